import { AlreadyAnsweredError } from '../store-errors.ts';
import type { InjectReceipt, InputSeq } from '../store.ts';

const ANSWER_PREFIX = 'answer:';

/** The dedupe key of an answer to a call: a call has one answer, whoever gives it. */
export function answerKey(callId: string): string {
  return `${ANSWER_PREFIX}${callId}`;
}

export function isAnswerKey(dedupeKey: string): boolean {
  return dedupeKey.startsWith(ANSWER_PREFIX);
}

/**
 * What the sender of an input hears when its dedupe key is taken.
 * @throws AlreadyAnsweredError when the key is that of an answer.
 */
export function duplicateReceipt(dedupeKey: string, earlier: InputSeq): InjectReceipt {
  if (isAnswerKey(dedupeKey)) {
    throw new AlreadyAnsweredError(dedupeKey.slice(ANSWER_PREFIX.length), earlier);
  }
  return { inputSeq: earlier, duplicate: true };
}
