import { resolve } from 'node:path';
import { toCopyLines, writeCopyFile } from '../../runtime/internal.ts';
import { createExporter } from '../../server/internal.ts';
import { readOnlyStore } from '../../store/internal.ts';
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
      const counts = { records: 0, events: 0 };
      const lines = createExporter({ runtime, store, clock })(key, {
        artifacts: toArtifacts(values, cwd),
        isRedacted: values.redact,
        counts,
      });
      await writeCopyFile(
        resolve(cwd, name),
        toCopyLines(lines, () => counts),
      );
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
