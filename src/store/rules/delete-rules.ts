import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { checkChanges } from './document-rules.ts';
import type { DeleteCondition, SessionRow } from '../store.ts';

const DELETE_OPTIONS: OptionTable = optionTable<DeleteCondition>('delete', {
  sessions: true,
  documents: true,
});

/** @throws InvalidInputError, NotSerializableError */
export function checkDeleteCondition({
  sessions,
  documents,
  ...more
}: DeleteCondition): Required<DeleteCondition> {
  checkOptions(DELETE_OPTIONS, more);
  if (sessions.length === 0)
    throw new InvalidInputError('sessions', 'must have the session itself: pass its uid and head.');
  return { sessions, documents: checkChanges(documents ?? []) };
}

/** True when a session and those of the agents that it called are exactly the expected ones, at these steps. */
export function areUnchanged(
  rows: readonly Pick<SessionRow, 'uid' | 'head' | 'inboxPending'>[],
  { sessions }: DeleteCondition,
): boolean {
  const heads = new Map(sessions.map(({ uid, head }) => [uid, head]));
  return (
    rows.length === heads.size &&
    rows.every(({ uid, head, inboxPending }) => !inboxPending && heads.get(uid) === head)
  );
}
