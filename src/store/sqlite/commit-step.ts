import {
  checkConsumed,
  checkNumbering,
  isStale,
  numberAcceptedInputs,
} from '../rules/step-rules.ts';
import type { CommitResult, InputSeq, SettledStep } from '../store.ts';
import type { InboxTable } from './tables/inbox-table.ts';
import type { PackedSqliteStep } from './tables/journal-table.ts';
import type { SessionHead } from './tables/session-table.ts';
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
  const accepted = acceptInputs(inbox, head, step);
  if (accepted === undefined) return { ok: false, refused: 'inputs' };
  const keys = shared === undefined ? [] : sharedState.findChangedKeys(key, shared);
  if (keys.length > 0) return { ok: false, refused: 'conflict', keys };
  if (shared !== undefined) sharedState.write(key, shared);
  journal.append(head, step, packed);
  inbox.consume(head, step.inboxUpTo);
  inbox.addKeys(head, step.accepts ?? [], accepted);
  pendingCalls.replace(key, head, packed.pending, step.summary.pending);
  if (step.usage !== undefined) usage.add(key, head.agent, step.usage);
  sessions.advance(head, step, packed, accepted.at(-1) ?? step.inboxUpTo);
  return accepted.length === 0 ? { ok: true } : { ok: true, inputs: accepted };
}

/** Numbers the inputs that a step accepts. Undefined when it must not accept them. */
function acceptInputs(
  inbox: InboxTable,
  head: SessionHead,
  step: SettledStep,
): readonly InputSeq[] | undefined {
  if (step.accepts === undefined || step.accepts.length === 0) return [];
  const { id, inboxUpTo } = head;
  return numberAcceptedInputs(
    step,
    { newest: inbox.newest(head), inboxUpTo },
    (key) => inbox.findByKey(id, key) !== undefined,
  );
}
