import { omitUndefined } from '../../core/internal.ts';
import type { SessionRow } from '../../store/index.ts';
import { parseAgentName } from '../catalogs/agent-name.ts';
import type { SessionRecord } from '../catalogs/session-catalog.ts';

/** The session that a thread belongs to: the thread's id starts with the session's id. */
export function toRootSessionId(sessionId: string): string {
  const end = sessionId.indexOf('/');
  return end < 0 ? sessionId : sessionId.slice(0, end);
}

/** The record of a thread: the agent from its journal, everything else from its session. */
export function toThreadRecord(root: SessionRecord, row: SessionRow): SessionRecord | undefined {
  const parts = parseAgentName(row.agent);
  if (parts === undefined) return undefined;
  return {
    id: row.key.sessionId,
    userId: root.userId,
    ...omitUndefined({ environment: root.environment }),
    agentId: parts.agentId,
    agentVersion: parts.version,
    agentName: row.agent,
    createdAt: row.createdAt,
  };
}
