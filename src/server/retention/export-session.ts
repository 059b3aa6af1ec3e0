import type { SessionKey } from '../../core/index.ts';
import { listAgentDocuments, listSessionDocuments } from '../../managed/internal.ts';
import type { ManagedSession } from '../../managed/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { AGENT_INDEX, SESSION_INDEX } from '../auth/workspace-index.ts';
import { journalValues } from '../events/journal-file.ts';
import { toSessionRef } from '../events/session-log.ts';
import { toWireSession } from '../routes/to-wire-session.ts';
import type { ServerContext } from '../routing/server-context.ts';

/** How a session is exported. */
export interface ExportSessionOptions {
  /** Default: artifacts are left out. */
  readonly artifacts?: ArtifactService | undefined;
  /** True: values are replaced by types and hashes, and the definitions are left out. Default: false. */
  readonly isRedacted?: boolean;
  /** Counts the records and events of the session itself. */
  readonly counts?: { records: number; events: number };
}

/**
 * Reads a session as the lines of a journal file, without the last one: its journal and log, those of the agents that it
 * called, its artifacts, and what the store has about it: its record, and the definitions of its agent and of those that
 * this one calls.
 */
export async function* exportSession(
  context: ServerContext,
  { userId, sessionId: id }: SessionKey,
  { artifacts, isRedacted = false, counts = { records: 0, events: 0 } }: ExportSessionOptions,
): AsyncGenerator<object, void, undefined> {
  const { runtime } = context;
  const session = await runtime.getSession({ id, userId });
  yield* journalValues(
    {
      context,
      session,
      wireSession: await toWireSession(context, session),
      inspection: await runtime.inspect(toSessionRef(session)),
      isRedacted,
      artifacts,
    },
    counts,
  );
  if (!isRedacted) yield* listDocuments(context, session);
}

async function* listDocuments(
  { runtime, store }: ServerContext,
  session: ManagedSession,
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
}
