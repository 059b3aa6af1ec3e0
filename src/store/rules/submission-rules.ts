import { encodeJson, formatSessionKey, parseIdentity, type SessionKey } from '../../core/index.ts';
import { duplicateReceipt, isAnswerKey } from './dedupe-key.ts';
import type { InjectReceipt, SessionInput } from '../store.ts';

/**
 * Checks the inputs as far as it is possible without the sessions.
 * @throws InvalidInputError, NotSerializableError
 * @throws AlreadyAnsweredError when two of the inputs answer the same call
 */
export function checkInputs(inputs: readonly SessionInput[]): void {
  const answers = new Set<string>();
  for (const [index, { key, input, dedupeKey }] of inputs.entries()) {
    parseIdentity(dedupeKey, `inputs[${index}].dedupeKey`);
    encodeJson(input.value, `inputs[${index}].input.value`);
    if (!isAnswerKey(dedupeKey)) continue;
    const answer = `${formatSessionKey(key)}\0${dedupeKey}`;
    if (answers.has(answer)) duplicateReceipt(dedupeKey, 0);
    answers.add(answer);
  }
}

/** Lists the sessions that got a new input, each once. */
export function listChangedSessions(
  inputs: readonly SessionInput[],
  receipts: readonly InjectReceipt[],
): readonly SessionKey[] {
  const keys = inputs.flatMap(({ key }, index) =>
    receipts[index]?.duplicate === false ? [[formatSessionKey(key), key] as const] : [],
  );
  return [...new Map(keys).values()];
}
