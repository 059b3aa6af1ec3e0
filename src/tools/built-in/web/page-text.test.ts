import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageText } from './page-text.ts';

test('a page becomes the visible text: no scripts, no styles, links with absolute URLs', async () => {
  const html = `<html><head><title>T</title><style>b{}</style><script>alert(1)</script></head>
    <body><h1>Rain &amp; soil</h1><p>It <b>smells</b> of <a href="/wiki">earth</a>.</p>
    <img src="x.png"><ul><li>one</li><li>two</li></ul></body></html>`;
  assert.equal(
    await pageText(html, 'https://example.com/a/b'),
    [
      'Rain & soil',
      '',
      'It smells of earth [https://example.com/wiki].',
      '',
      ' * one',
      ' * two',
    ].join('\n'),
  );
});

test('a page of deeply nested tags becomes text', async () => {
  const text = await pageText('<div>'.repeat(100_000) + 'deep', 'https://example.com/');
  assert.ok(text.length < 100);
});
