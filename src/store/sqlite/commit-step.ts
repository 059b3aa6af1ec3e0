import { checkConsumed, checkNumbering, isStale } from '../rules/step-rules.ts';
import type { CommitResult, SettledStep } from '../store.ts';
import type { PackedSqliteStep } from './tables/journal-table.ts';
import type { SqliteTables } from './tables/sqlite-tables.ts';

/** Writes a step that has been checked, in the open transaction, or refuses it before the first write. */
export function commitStep(
  { sessions, journal, inbox, shared: sharedState, pendingCalls, usage }: SqliteTables,
  step: SettledStep,
  packed: PackedSqliteStep,
): CommitResult {
  const { key, shared } = step;
  const head = sessions.head(key);
  if (head === undefined || isStale(step, head)) return { ok: false, refused: 'stale' };
  checkNumbering(step, head);
  if (step.inboxUpTo > head.inboxUpTo) checkConsumed(step, inbox.newest(head));
  const keys = shared === undefined ? [] : sharedState.findChangedKeys(key, shared);
  if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
  if (shared !== undefined) sharedState.write(key, shared);
  journal.append(head, step, packed);
  inbox.consume(head, step.inboxUpTo);
  pendingCalls.replace(key, head, packed.pending, step.summary.pending);
  if (step.usage !== undefined) usage.add(key, head.agent, step.usage);
  sessions.advance(head, step, packed);
  return { ok: true };
}
