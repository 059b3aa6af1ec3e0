import { AlreadyAnsweredError } from '../store-errors.ts';
import type { InjectReceipt, InputSeq } from '../store.ts';

const ANSWER_PREFIX = 'answer:';

/** The dedupe key of an answer to a call. All answers to a call share it, so a call takes one answer. */
export function answerKey(callId: string): string {
  return `${ANSWER_PREFIX}${callId}`;
}

export function isAnswerKey(dedupeKey: string): boolean {
  return dedupeKey.startsWith(ANSWER_PREFIX);
}

/**
 * Returns the receipt of an input whose dedupe key was used before.
 * @throws AlreadyAnsweredError when the key is that of an answer
 */
export function duplicateReceipt(dedupeKey: string, earlier: InputSeq): InjectReceipt {
  if (isAnswerKey(dedupeKey)) {
    throw new AlreadyAnsweredError(dedupeKey.slice(ANSWER_PREFIX.length), earlier);
  }
  return { inputSeq: earlier, duplicate: true };
}
