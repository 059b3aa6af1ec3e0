/** The words of a text, as they are compared; also of a language that puts no spaces between them. */
export function tokenize(text: string): ReadonlySet<string> {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(
    text.toLowerCase().normalize('NFKC'),
  );
  return new Set([...segments].flatMap(({ segment, isWordLike }) => (isWordLike ? segment : [])));
}
