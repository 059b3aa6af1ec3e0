import { all } from '../../net/index.ts';
import { sessionArchived, sessionCompleted } from './session.ts';

/** The inputs by which a transition finds out whether the session is closed. */
export const readClosed: Readonly<Record<'archived' | 'completed', ReturnType<typeof all<null>>>> =
  {
    archived: all(sessionArchived, { min: 0 }),
    completed: all(sessionCompleted, { min: 0 }),
  };

/** True in a closed session, whose log does not grow. */
export function isClosed({
  archived,
  completed,
}: {
  readonly archived: readonly null[];
  readonly completed: readonly null[];
}): boolean {
  return archived.length > 0 || completed.length > 0;
}
