import type { Usage } from '../../core/index.ts';
import type { ManagedSession, ManagedStatus } from '../../managed/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import { parseSessionIndexEntry } from './session-lookup.ts';
import { readSessionAgent } from './workspace-agents.ts';

export type WireStatus = 'idle' | 'running' | 'rescheduling' | 'terminated';

export const WIRE_STATUSES = ['rescheduling', 'running', 'idle', 'terminated'] as const;

/** Converts a session to the format of the HTTP API. */
export async function toWireSession(
  context: ServerContext,
  session: ManagedSession,
): Promise<Wire<'Session'>> {
  const { runtime, sessions } = context;
  const { id, owner, status, title, metadata } = session;
  const [agent, usage, indexEntry] = await Promise.all([
    readSessionAgent(context, session),
    runtime.usage(session),
    sessions.get(owner.userId, id),
  ]);
  const { environmentId, forkedFrom } = parseSessionIndexEntry(indexEntry);
  const isArchived = status === 'archived';
  return {
    id,
    type: 'session',
    agent,
    environment_id: environmentId,
    status: toWireStatus(status),
    state: session.sessionStatus,
    pending_count: session.pendingCount,
    waiting_for: session.waitingFor ?? null,
    user_id: owner.userId,
    forked_from:
      forkedFrom === undefined
        ? null
        : {
            session_id: forkedFrom.sessionId,
            up_to_seq: forkedFrom.upTo,
            at_record: forkedFrom.atRecord,
          },
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
export function toSessionUsage(usage: Usage): Wire<'SessionUsage'> {
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
