import { importOptional } from '../../../core/internal.ts';
import type { HtmlToTextOptions } from 'html-to-text';
import { MissingToolPackageError } from '../../../egress/index.ts';

/**
 * Links keep their address, images are dropped, tables are read row by row. Pages that are too deep
 * or too wide are cut with "...".
 */
const optionsFor = (url: string): HtmlToTextOptions => ({
  wordwrap: false,
  limits: { maxDepth: 500, maxChildNodes: 20_000, maxInputLength: 4 * 1024 * 1024 },
  selectors: [
    { selector: 'img', format: 'skip' },
    { selector: 'svg', format: 'skip' },
    { selector: 'h1', options: { uppercase: false } },
    { selector: 'h2', options: { uppercase: false } },
    { selector: 'h3', options: { uppercase: false } },
    { selector: 'h4', options: { uppercase: false } },
    { selector: 'table', options: { uppercaseHeaderCells: false } },
    {
      selector: 'a',
      options: {
        hideLinkHrefIfSameAsText: true,
        pathRewrite: (path: string) => URL.parse(path, url)?.href ?? path,
      },
    },
  ],
});

/**
 * Converts an HTML page to the text that a reader sees. Relative link addresses become absolute.
 * @throws MissingToolPackageError if `html-to-text` is not installed
 */
export async function pageText(html: string, url: string): Promise<string> {
  const { convert } = await importOptional(
    import('html-to-text'),
    (cause) => new MissingToolPackageError('html-to-text', { cause }),
  );
  return convert(html, optionsFor(url));
}
