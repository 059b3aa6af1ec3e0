/**
 * The words of a text in the form in which they are compared: lower case and NFKC. Segmentation
 * also works for languages without spaces between words.
 */
export function tokenize(text: string): ReadonlySet<string> {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    text.toLowerCase().normalize('NFKC'),
  );
  return new Set([...segments].flatMap(({ segment, isWordLike }) => (isWordLike ? segment : [])));
}
