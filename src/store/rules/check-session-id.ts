import { isChildSessionId, InvalidInputError, type SessionId } from '../../core/index.ts';

/** @throws InvalidInputError for an id that has the form of a called agent's session, because lists leave those out */
export function checkSessionId(id: SessionId): void {
  if (isChildSessionId(id))
    throw new InvalidInputError(
      'sessionId',
      `"${id}" has the form of a called agent's session ("<id>/<uuid>/<number>"): choose another id.`,
    );
}
