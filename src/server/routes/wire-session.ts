import { isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject, Usage } from '../../core/index.ts';
import { ManagedSessionNotFoundError } from '../../managed/index.ts';
import type { ManagedSession, ManagedStatus } from '../../managed/index.ts';
import { toWireAgentSnapshot } from '../wire/wire-agent.ts';
import type { RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

export type WireStatus = 'idle' | 'running' | 'rescheduling' | 'terminated';

export const WIRE_STATUSES = ['rescheduling', 'running', 'idle', 'terminated'] as const;

/** What the server stores about a session besides the runtime. */
export interface SessionIndexEntry {
  readonly environmentId: string | null;
}

/**
 * Finds a session of the caller's workspace.
 * @throws ManagedSessionNotFoundError, with the same message for a session of another workspace
 */
export async function getWorkspaceSession(
  { runtime }: ServerContext,
  { caller, params }: Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>,
): Promise<ManagedSession> {
  const id = params('session_id');
  // A thread belongs to its session and has routes of its own.
  if (id.includes('/')) throw new ManagedSessionNotFoundError(id);
  const session = await runtime.getSession(id);
  if (session.owner.userId !== caller.workspace) throw new ManagedSessionNotFoundError(id);
  return session;
}

export function parseSessionIndexEntry(value: Json | undefined): SessionIndexEntry {
  const environmentId = isJsonObject(value) ? value['environmentId'] : undefined;
  return { environmentId: typeof environmentId === 'string' ? environmentId : null };
}

/** Call it before sending something to a session: if its tools are self-hosted, it may need a worker. */
export async function enqueueForWorker(
  { sessions, work }: ServerContext,
  workspace: string,
  session: ManagedSession,
): Promise<void> {
  if (session.environment?.selfHosted !== true) return;
  const { environmentId } = parseSessionIndexEntry(await sessions.get(workspace, session.id));
  if (environmentId !== null) await work.enqueue(environmentId, session);
}

/** Converts a session to the format of the HTTP API. */
export async function toWireSession(
  { runtime, sessions }: ServerContext,
  session: ManagedSession,
): Promise<JsonObject> {
  const { id, agentId, agentVersion, owner, status, title, metadata } = session;
  const [agent, usage, indexEntry] = await Promise.all([
    runtime.getAgent(agentId, { version: agentVersion }),
    runtime.usage(id),
    sessions.get(owner.userId, id),
  ]);
  const { metadata: _, ...snapshot } = toWireAgentSnapshot(agent);
  const isArchived = status === 'archived';
  return {
    id,
    type: 'session',
    agent: snapshot,
    environment_id: parseSessionIndexEntry(indexEntry).environmentId,
    status: toWireStatus(status),
    paused: status === 'paused',
    title: title ?? null,
    metadata: { ...metadata },
    usage: toSessionUsage(usage),
    stats: {
      duration_seconds: Math.max(0, session.updatedAt - session.createdAt) / 1000,
    },
    budget: null,
    resources: [],
    vault_ids: [],
    outcome_evaluations: [],
    last_seq: session.lastSeq,
    created_at: toWireTime(session.createdAt),
    updated_at: toWireTime(session.updatedAt),
    archived_at: isArchived ? toWireTime(session.updatedAt) : null,
  };
}

/** The protocol has four statuses. A failed session continues with the next message, so it is idle. */
export function toWireStatus(status: ManagedStatus): WireStatus {
  switch (status) {
    case 'running':
    case 'rescheduling':
      return status;
    case 'archived':
    case 'completed':
      return 'terminated';
    default:
      return 'idle';
  }
}

/** Converts the token usage of a session to the format of the HTTP API. */
export function toSessionUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens ?? 0,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens ?? 0,
      ephemeral_1h_input_tokens: 0,
    },
  };
}
