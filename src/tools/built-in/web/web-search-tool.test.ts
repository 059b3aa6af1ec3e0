import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { callTool, getErrorCode } from '../../../../test/tools/call-tool.ts';
import { braveSearch } from './brave-search.ts';
import type { SearchProvider } from './search-provider.ts';
import { webSearchTool } from './web-search-tool.ts';

// A response of the service, including fields that the tool does not use.
const REPLY = {
  type: 'search',
  query: { original: 'petrichor', more_results_available: true },
  mixed: { type: 'mixed', main: [] },
  web: {
    type: 'search',
    family_friendly: true,
    results: [
      {
        title: 'Petrichor',
        url: 'https://en.wikipedia.org/wiki/Petrichor',
        is_source_local: false,
        description: 'The smell of rain on dry soil.',
        page_age: '2026-01-02T03:04:05',
        profile: { name: 'Wikipedia' },
        language: 'en',
      },
      {
        title: 'Rain',
        url: 'https://example.com/rain',
        description: 'x'.repeat(5_000),
        page_age: null,
      },
      { title: 'Bare', url: 'https://example.com/bare' },
    ],
  },
};
const KEY = 'key-0123456789';
const requests: IncomingMessage[] = [];
let reply: (response: ServerResponse) => void = () => undefined;
const server = createServer((request, response) => {
  requests.push(request);
  reply(response);
});
let provider: SearchProvider;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  provider = braveSearch({ apiKey: KEY, baseUrl: `http://127.0.0.1:${port}/`, country: 'DE' });
});
after(() => {
  server.close();
  server.closeAllConnections();
});

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));

test('web_search sends a request in the format of Brave Search, and returns the results', async () => {
  reply = json(REPLY);
  const { outcome, response } = await callTool(webSearchTool({ provider }), {
    query: 'rain & soil',
    count: 2,
  });
  assert.equal(outcome, 'ok');
  assert.deepEqual(response, {
    results: [
      {
        title: 'Petrichor',
        snippet: 'The smell of rain on dry soil.',
        url: 'https://en.wikipedia.org/wiki/Petrichor',
        date: '2026-01-02T03:04:05',
      },
      { title: 'Rain', snippet: 'x'.repeat(2_000), url: 'https://example.com/rain' },
    ],
  });
  const { method, url = '', headers } = requests.at(-1) ?? {};
  const { pathname, searchParams } = new URL(url, 'http://x');
  assert.equal(method, 'GET');
  assert.equal(pathname, '/res/v1/web/search');
  assert.deepEqual(Object.fromEntries(searchParams), {
    q: 'rain & soil',
    count: '2',
    text_decorations: 'false',
    result_filter: 'web',
    country: 'DE',
  });
  assert.equal(headers?.['x-subscription-token'], KEY);
});

test('a response without results is not an error', async () => {
  for (const empty of [{ type: 'search' }, { web: null }, { web: { results: [] } }]) {
    reply = json(empty);
    const { response } = await callTool(webSearchTool({ provider }), { query: 'x' });
    assert.deepEqual(response, { results: [] });
  }
});

const failures: readonly (readonly [
  what: string,
  reply: (response: ServerResponse) => void,
  code: string,
])[] = [
  ['a key that is not accepted', json({ error: { detail: KEY } }, 401), 'search_unauthorised'],
  ['a plan without search', json({}, 403), 'search_unauthorised'],
  ['too many searches', json({}, 429, { 'retry-after': '7' }), 'search_rate_limited'],
  ['a broken service', json({}, 500), 'search_failed'],
  ['a query it does not take', json({}, 422), 'search_failed'],
  ['a page in place of JSON', (response) => void response.end('<html>'), 'search_failed'],
  ['results of another form', json({ web: { results: [{ title: 1 }] } }), 'search_failed'],
  [
    'a redirect, which would take the key along',
    json({}, 302, { location: 'http://127.0.0.1:1/' }),
    'search_failed',
  ],
  ['a flood', (response) => void response.end('x'.repeat(5_000_000)), 'search_failed'],
  ['a connection that breaks', (response) => void response.destroy(), 'search_failed'],
];
for (const [what, answer, code] of failures) {
  test(`${what} is an error with its code, without the key`, async () => {
    reply = answer;
    const result = await callTool(webSearchTool({ provider }), { query: 'x' });
    assert.equal(getErrorCode(result), code);
    assert.ok(!JSON.stringify(result).includes(KEY));
  });
}

test('the error of a rate limit has the wait for programs', async () => {
  reply = json({}, 429, { 'retry-after': '7' });
  const { signal } = new AbortController();
  await assert.rejects(provider.search('x', { count: 1, signal }), {
    code: 'search_rate_limited',
    retryAfterMs: 7_000,
  });
});

test('a search stops when it is aborted', async () => {
  const abort = new AbortController();
  reply = () => abort.abort(new Error('interrupted'));
  const result = await callTool(
    webSearchTool({ provider }),
    { query: 'x' },
    { signal: abort.signal },
  );
  assert.match(JSON.stringify(result), /interrupted/);
});

test('web_search only reads, and accepts no more than the service accepts', async () => {
  const tool = webSearchTool({ provider });
  assert.deepEqual([tool.readOnly, tool.onCrash, tool.needsApproval], [true, 'rerun', false]);
  assert.equal((await callTool(tool, { query: 'x'.repeat(401) })).outcome, 'error');
  assert.equal((await callTool(tool, { query: 'x', count: 21 })).outcome, 'error');
});

test('a key with characters that are invalid in a header is rejected', () => {
  for (const apiKey of ['', 'a b', 'a\r\nx: y']) {
    assert.throws(() => braveSearch({ apiKey }), { code: 'invalid_input', field: 'apiKey' });
  }
});
