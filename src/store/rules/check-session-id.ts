import { isChildSessionId } from '../../core/identity/child-session-id.ts';
import { InvalidInputError } from '../../core/errors/invalid-input-error.ts';
import type { SessionId } from '../../core/identity/ids.ts';

/** @throws InvalidInputError for an id of the form that the sessions of called agents have, which no list shows */
export function checkSessionId(id: SessionId): void {
  if (isChildSessionId(id))
    throw new InvalidInputError(
      'sessionId',
      `"${id}" has the form of a called agent's session ("<id>/<uuid>/<number>"): choose another id.`,
    );
}
