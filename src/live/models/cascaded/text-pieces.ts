const MAX_PIECE = 120;
/** The end of a sentence, or of a clause that is long enough to be spoken alone. */
const SENTENCE = /^[\s\S]*?[.!?…。！？]+["')\]]*(?:\s+|$)/;
const MIN_PIECE = 2;

/**
 * Cuts text in progress into pieces to be spoken: sentences, or parts of long ones. `rest` is what may go on.
 * @param isComplete whether nothing follows
 */
export function takePieces(
  text: string,
  isComplete: boolean,
): { readonly pieces: readonly string[]; readonly rest: string } {
  const pieces: string[] = [];
  let rest = text;
  for (;;) {
    const sentence = SENTENCE.exec(rest)?.[0];
    // Without a space after it, a point may be part of a number that goes on.
    const isWhole = sentence !== undefined && (isComplete || /\s$/.test(sentence));
    if (isWhole && sentence.length >= MIN_PIECE && sentence.length <= MAX_PIECE) {
      pieces.push(sentence);
      rest = rest.slice(sentence.length);
    } else if (rest.length > MAX_PIECE) {
      const space = rest.lastIndexOf(' ', MAX_PIECE);
      const length = space > 0 ? space + 1 : wholeLength(rest, MAX_PIECE);
      pieces.push(rest.slice(0, length));
      rest = rest.slice(length);
    } else break;
  }
  if (!isComplete || rest === '') return { pieces, rest };
  return { pieces: [...pieces, rest], rest: '' };
}

/** The most UTF-16 code units up to a length that do not end inside of a character. */
function wholeLength(text: string, length: number): number {
  return text.slice(0, length).isWellFormed() ? length : length - 1;
}
