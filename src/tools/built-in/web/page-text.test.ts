import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageText } from './page-text.ts';

test('a page becomes what a reader sees: no script, no style, links with whole addresses', async () => {
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

test('a page of nothing but nested tags ends as text', async () => {
  const text = await pageText('<div>'.repeat(100_000) + 'deep', 'https://example.com/');
  assert.ok(text.length < 100);
});
