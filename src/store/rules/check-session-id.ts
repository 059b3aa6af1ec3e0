import { SCHEDULES_SESSION } from '../../core/internal.ts';
import { isChildSessionId, InvalidInputError, type SessionId } from '../../core/index.ts';

/**
 * Checks the id of a new session.
 * @param field the name of the id in the error
 * @throws InvalidInputError for an id that has the form of a called agent's session, because lists leave those out, for
 *   the id that schedules reserve, and for `.` and `..`, because no URL can name them: their segment is removed from a path, however it is encoded
 */
export function checkSessionId(id: SessionId, field: string = 'sessionId'): void {
  if (id === '.' || id === '..')
    throw new InvalidInputError(
      field,
      `"${id}" cannot be part of the path of a URL: choose another id.`,
    );
  if (id === SCHEDULES_SESSION)
    throw new InvalidInputError(field, `"${id}" is reserved for schedules: choose another id.`);
  if (isChildSessionId(id))
    throw new InvalidInputError(
      field,
      `"${id}" has the form of a called agent's session ("<id>/<uuid>/<number>"): choose another id.`,
    );
}
