import { omitUndefined } from '../../core/internal.ts';
import type { SessionRow } from '../../store/index.ts';
import type { AgentNames } from '../catalogs/agent-names.ts';
import type { SessionRecord } from '../catalogs/session-catalog.ts';

/** The record of a thread: the agent from its journal, everything else from its session. */
export function toThreadRecord(
  root: SessionRecord,
  row: SessionRow,
  names: AgentNames,
): SessionRecord {
  const { id: agentId, version: agentVersion } = names.resolve(row.agent);
  return {
    id: row.key.sessionId,
    userId: root.userId,
    ...omitUndefined({ environment: root.environment }),
    agentId,
    agentVersion,
    agentName: row.agent,
    createdAt: row.createdAt,
  };
}
