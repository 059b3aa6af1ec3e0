import type { DoneReply, ReplyRef, ReplyText } from '../vocabulary/reply-places.ts';

/** The last text of a reply, for each token of its end. Empty if it had no more text. */
export function toRest({ reply }: ReplyRef, done: readonly DoneReply[]): readonly ReplyText[] {
  return done.map((end) => ({
    reply,
    ...((end.reply === reply ? end.rest : undefined) ?? { fromMs: 0, toMs: 0, text: '' }),
  }));
}

/** The text of a reply whose whole audio was played. */
export function joinText(texts: readonly ReplyText[]): string {
  return inOrder(texts)
    .map(({ text }) => text)
    .join('');
}

/**
 * The text of a reply that was audible in its first `playedMs` milliseconds. Text that was spoken in part counts up to
 * the last whole word.
 */
export function audibleText(texts: readonly ReplyText[], playedMs: number): string {
  return inOrder(texts)
    .map((text) => cutText(text, playedMs))
    .join('')
    .trimEnd();
}

/** True if the text is the transcript of audio. */
export function isAudible(texts: readonly ReplyText[]): boolean {
  return texts.some(({ toMs }) => toMs > 0);
}

function inOrder(texts: readonly ReplyText[]): readonly ReplyText[] {
  return texts.toSorted((a, b) => a.fromMs - b.fromMs);
}

function cutText({ fromMs, toMs, text }: ReplyText, playedMs: number): string {
  if (playedMs >= toMs) return text;
  if (playedMs <= fromMs) return '';
  const length = Math.floor((text.length * (playedMs - fromMs)) / (toMs - fromMs));
  if (/\s/.test(text.charAt(length))) return text.slice(0, length);
  return text.slice(0, length).replace(/\S*$/, '');
}
