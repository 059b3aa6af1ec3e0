import { parseIdentity, type SessionKey } from '../../core/index.ts';
import type { SessionInput, SessionReplacement, SessionRow } from '../store.ts';
import { checkInputs } from './submission-rules.ts';

/**
 * Checks a replacement as far as it is possible without the session. Returns its inputs with their session.
 * @throws InvalidInputError, NotSerializableError
 */
export function checkReplacement(
  key: SessionKey,
  { init, inputs }: SessionReplacement,
): readonly SessionInput[] {
  parseIdentity(init.agent, 'agent');
  const addressed = inputs.map((input) => ({ ...input, key }));
  checkInputs(addressed);
  return addressed;
}

/** True when the session is as the replacement expects. */
export function isExpected(
  row: Pick<SessionRow, 'uid' | 'head'> | undefined,
  unread: number,
  { expected }: SessionReplacement,
): boolean {
  return (
    row !== undefined &&
    row.uid === expected.uid &&
    row.head === expected.head &&
    unread === expected.unread
  );
}
