import { resolve } from 'node:path';
import { listAgentDocuments, listSessionDocuments } from '../../managed/internal.ts';
import type { ManagedRuntime, ManagedSession } from '../../managed/index.ts';
import {
  exportArtifacts,
  readCopyLines,
  toCopyLines,
  writeCopyFile,
} from '../../runtime/internal.ts';
import { createServer } from '../../server/index.ts';
import { AGENT_INDEX, SESSION_INDEX } from '../../server/internal.ts';
import { readOnlyStore } from '../../store/internal.ts';
import type { Store } from '../../store/index.ts';
import { FileArtifactService } from '../../tools/index.ts';
import { defineCommand, type Command } from '../command/command.ts';
import { EXIT_OK } from '../command/exit-code.ts';
import { DEFAULT_STORE, sessionSelectorOptions } from '../command/shared-options.ts';
import { withExistingStore } from '../loading/existing-store.ts';
import { findSession } from '../loading/find-session.ts';
import { openReadingRuntime } from '../serve/open-reading-runtime.ts';
import { loadServedAgents, NO_AGENTS } from '../serve/served-agents.ts';
import { printable } from '../terminal/printable.ts';

/** The command that writes a session to a file. */
export const exportCommand: Command = defineCommand({
  name: 'export',
  operands: ['SESSION'],
  summary: 'Write a session to a journal file, which petrichor import continues elsewhere',
  description: [
    'The file has the session and those of the agents that it called as of one moment: journal, log and unread inputs, the',
    'definition if it is stored as data, and the net if --agents names the file of the agents. The developer console opens',
    'it, too. The session stays in its store: stop it before you continue the copy, or both continue.',
  ].join('\n'),
  options: {
    ...sessionSelectorOptions,
    output: {
      type: 'string',
      value: 'FILE',
      summary: 'The file to write; compressed if it ends in .gz. Default: SESSION.journal.jsonl',
    },
    agents: { type: 'string', value: 'FILE', summary: 'The agents, to write the net too' },
    artifacts: {
      type: 'string',
      value: 'DIR',
      summary:
        'The folder of a FileArtifactService, whose artifacts of the session are written too',
    },
    redact: {
      type: 'boolean',
      summary: 'Write types and hashes in place of values. Such a file is only for reading',
    },
  },
  run: async ({ values, operands: [sessionId = ''], cwd, stdout, clock }) => {
    const url = values.store ?? DEFAULT_STORE;
    const name = values.output ?? `${sessionId.replaceAll(/[^\w.-]/g, '_')}.journal.jsonl`;
    const served =
      values.agents === undefined ? NO_AGENTS : await loadServedAgents(values.agents, cwd);
    await withExistingStore(url, cwd, async (opened) => {
      const choice = { sessionId, user: values.user, app: values.app };
      const { key } = await findSession(opened, url, choice, 'export');
      // The runtime closes its store.
      const store = { ...readOnlyStore(opened, url), close: async () => {} };
      await using runtime = await openReadingRuntime({ app: key.appName, store, served, clock });
      const session = await runtime.getSession({ id: sessionId, userId: key.userId });
      const server = await createServer({
        runtime,
        store,
        keys: 'required',
        readOnly: true,
        clock,
      });
      try {
        // A key of the user, in memory: the route shows the sessions of its workspace.
        const { token } = await server.keys.create(key.userId, 'export');
        const response = await server.fetch(
          new Request(
            `http://127.0.0.1/v1/sessions/${encodeURIComponent(sessionId)}/journal?redact=${values.redact ? 1 : 0}`,
            { headers: { 'x-api-key': token } },
          ),
        );
        if (!response.ok || response.body === null) throw new Error(await response.text());
        const more = values.redact
          ? []
          : listMore(opened, runtime, session, toArtifacts(values, cwd));
        await writeCopyFile(resolve(cwd, name), appendLines(response.body, name, more));
      } finally {
        await server.close();
      }
    });
    const facts = { session: sessionId, file: name };
    stdout.write(
      values.json
        ? `${JSON.stringify(facts)}\n`
        : printable(`Wrote ${sessionId} to ${name}.`) + '\n',
    );
    return EXIT_OK;
  },
});

function toArtifacts(
  { artifacts }: { readonly artifacts?: string | undefined },
  cwd: string,
): FileArtifactService | undefined {
  if (artifacts === undefined) return undefined;
  return new FileArtifactService({ rootDir: resolve(cwd, artifacts) });
}

/** Writes more lines before the end of a journal file. */
async function* appendLines(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  more: AsyncIterable<object> | Iterable<object>,
): AsyncGenerator<string, void, undefined> {
  const counts = { records: 0, events: 0 };
  async function* values(): AsyncGenerator<object, void, undefined> {
    let sessions = 0;
    for await (const { value } of readCopyLines(chunks, file)) {
      if (value['type'] === 'session') sessions++;
      if (value['type'] === 'event') counts.events++;
      const { records } = value;
      if (sessions <= 1 && Array.isArray(records)) counts.records += records.length;
      yield value;
    }
    yield* more;
  }
  yield* toCopyLines(values(), () => counts);
}

/**
 * What belongs to a session and is not in its journal: the definitions of its agent and of those that it calls, its record,
 * and its artifacts.
 */
async function* listMore(
  store: Store,
  runtime: ManagedRuntime,
  session: ManagedSession,
  artifacts: FileArtifactService | undefined,
): AsyncGenerator<object, void, undefined> {
  const { id: sessionId, agentId, agentVersion, owner } = session;
  const definitions = await listAgentDocuments(runtime, agentId, agentVersion);
  const agents = definitions.map((one) => one.agentId);
  const documents = [
    ...listSessionDocuments(session),
    { kind: SESSION_INDEX, id: `${owner.userId}/${sessionId}` },
    ...definitions,
    ...agents.map((id) => ({ kind: AGENT_INDEX, id: `${owner.userId}/${id}` })),
  ];
  const written = new Set<string>();
  for (const { kind, id } of documents) {
    const name = `${kind} ${id}`;
    if (written.has(name)) continue;
    written.add(name);
    const document = await store.document(kind, id);
    if (document !== undefined) yield { type: 'document', ...document };
  }
  if (artifacts !== undefined) yield* exportArtifacts(artifacts, [{ ...owner, sessionId }]);
}
