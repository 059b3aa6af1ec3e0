import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { callTool, getErrorCode } from '../../../../test/tools/call-tool.ts';
import { redirectTarget } from './redirect-target.ts';
import { webFetchTool, type WebFetchOptions } from './web-fetch-tool.ts';

const SECRET = 'the secret of the host';
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  answer(request, response);
});
let port = 0;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
after(() => {
  server.close();
  server.closeAllConnections();
});

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://x/');
  const send = (
    body: string | Buffer,
    headers: Record<string, string> = {},
    status = 200,
  ): void => {
    response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
  };
  switch (pathname) {
    case '/redirect':
      send(
        '',
        {
          location: (searchParams.get('to') ?? '').replaceAll(/[^\x20-\x7e]/g, encodeURIComponent),
        },
        Number(searchParams.get('status') ?? 302),
      );
      return;
    case '/loop':
      send('', { location: '/loop' }, 302);
      return;
    case '/page':
      send('<h1>Rain</h1><p>on <a href="/soil">soil</a></p><script>x</script>', {
        'content-type': 'text/html; charset=utf-8',
      });
      return;
    case '/latin':
      send(Buffer.from([0x72, 0xe9]), { 'content-type': 'text/plain; charset=ISO-8859-1' });
      return;
    case '/json':
      send(gzipSync('{"a":1}'), {
        'content-type': 'application/problem+json',
        'content-encoding': 'gzip',
      });
      return;
    case '/missing':
      send('not here', {}, 404);
      return;
    case '/long':
      send('x'.repeat(50_000));
      return;
    case '/declared':
      response.writeHead(200, { 'content-length': '999999999', 'content-type': 'text/plain' });
      response.write('x');
      return;
    case '/endless': {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void =>
        void (response.write('x'.repeat(65_536))
          ? setImmediate(more)
          : response.once('drain', more));
      response.once('close', () => response.removeAllListeners('drain'));
      more();
      return;
    }
    case '/gzip-bomb':
      send(gzipSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'gzip' });
      return;
    case '/br-bomb':
      send(brotliCompressSync(Buffer.alloc(50_000_000)), { 'content-encoding': 'br' });
      return;
    case '/gzip-twice':
      send(gzipSync(gzipSync('x')), { 'content-encoding': 'gzip, gzip' });
      return;
    case '/broken-gzip':
      send('this is no gzip', { 'content-encoding': 'gzip' });
      return;
    case '/binary':
      send(Buffer.from([0x89, 0x50, 0x4e, 0x47]), { 'content-type': 'image/png' });
      return;
    case '/binary-text':
      send(Buffer.from([65, 0, 66]));
      return;
    case '/silent':
      return;
    case '/cut':
      response.writeHead(200, { 'content-length': '100', 'content-type': 'text/plain' });
      response.write('only this');
      setImmediate(() => response.destroy());
      return;
    default:
      send(SECRET);
  }
}

/** A simulated web: every name resolves to the test server, whose address counts as public. */
const open = (more: Partial<WebFetchOptions> = {}): ReturnType<typeof webFetchTool> =>
  webFetchTool({
    hosts: [`*:${port}`, `*.example.com:${port}`],
    resolve: () => Promise.resolve(['127.0.0.1']),
    allowsAddress: (address) => address === '127.0.0.1',
    ...more,
  });

describe('web_fetch', () => {
  it('returns a page as text, its links with absolute URLs', async () => {
    const { outcome, response } = await callTool(open(), {
      url: `http://example.com:${port}/page`,
    });
    assert.equal(outcome, 'ok', JSON.stringify(response));
    assert.deepEqual(response, {
      url: `http://example.com:${port}/page`,
      status: 200,
      content_type: 'text/html',
      content: `Rain\n\non soil [http://example.com:${port}/soil]`,
      truncated: false,
    });
    assert.equal(requests.at(-1)?.headers.host, `example.com:${port}`);
    assert.deepEqual(
      [requests.at(-1)?.headers.cookie, requests.at(-1)?.headers.authorization],
      [undefined, undefined],
    );
  });

  it('returns compressed responses, other charsets, error pages, and the start of long pages', async () => {
    const at = async (path: string, more: Partial<WebFetchOptions> = {}): Promise<unknown[]> => {
      const { response } = await callTool(open(more), { url: `http://example.com:${port}${path}` });
      return [response['status'], response['content'], response['truncated']];
    };
    assert.deepEqual(await at('/json'), [200, '{"a":1}', false]);
    assert.deepEqual(await at('/latin'), [200, 'ré', false]);
    assert.deepEqual(await at('/missing'), [404, 'not here', false]);
    assert.deepEqual(await at('/long', { maxCharacters: 10 }), [200, 'xxxxxxxxxx', true]);
  });

  it('follows redirects, checks each target, and resolves each name once', async () => {
    const names: string[] = [];
    const tool = open({
      resolve: (name) => {
        names.push(name);
        return Promise.resolve(['127.0.0.1']);
      },
    });
    const { response } = await callTool(tool, {
      url: `http://a.example.com:${port}/redirect?to=//b.example.com:${port}/page`,
    });
    assert.equal(response['url'], `http://b.example.com:${port}/page`);
    assert.deepEqual(names, ['a.example.com', 'b.example.com']);
  });

  it('connects to the address that was checked, so DNS rebinding has no effect', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.3']];
    const checked: string[] = [];
    const tool = open({
      resolve: () => Promise.resolve(answers.shift() ?? []),
      allowsAddress: (address) => checked.push(address) === 1,
    });
    const { outcome } = await callTool(tool, { url: `http://rebind.example.com:${port}/page` });
    assert.equal(outcome, 'ok');
    assert.deepEqual(checked, ['127.0.0.1']);
    assert.equal(answers.length, 2);
  });

  it('only reads, so it may run again after a crash and needs no approval', () => {
    const { readOnly, onCrash, needsApproval, timeoutMs } = open();
    assert.deepEqual([readOnly, onCrash, needsApproval, timeoutMs], [true, 'rerun', false, 30_000]);
    assert.equal(open({ needsApproval: true }).needsApproval, true);
  });

  it('stops when it is aborted, even during the response', async () => {
    for (const path of ['/silent', '/endless']) {
      const abort = new AbortController();
      const before = requests.length;
      const running = callTool(
        open({ maxBytes: 1e12 }),
        { url: `http://example.com:${port}${path}` },
        { signal: abort.signal },
      );
      while (requests.length === before) await new Promise(setImmediate);
      abort.abort(new Error('interrupted'));
      assert.match(JSON.stringify(await running), /interrupted/);
    }
  });
});

// Without the checks, each of these would reach the test server or another internal target.
const internalTargets: readonly (readonly [
  what: string,
  url: (port: number) => string,
  code: string,
])[] = [
  ['the loopback address', (p) => `http://127.0.0.1:${p}/`, 'address_refused'],
  ['another loopback address', (p) => `http://127.7.7.7:${p}/`, 'address_refused'],
  ['localhost', (p) => `http://localhost:${p}/`, 'address_refused'],
  ['localhost with a point', (p) => `http://localhost.:${p}/`, 'address_refused'],
  ['the unspecified address', (p) => `http://0.0.0.0:${p}/`, 'address_refused'],
  ['a decimal address', (p) => `http://2130706433:${p}/`, 'address_refused'],
  ['a hexadecimal address', (p) => `http://0x7f000001:${p}/`, 'address_refused'],
  ['an octal address', (p) => `http://0177.0.0.1:${p}/`, 'address_refused'],
  ['a short address', (p) => `http://127.1:${p}/`, 'address_refused'],
  ['an address in wide digits', (p) => `http://１２７.0.0.1:${p}/`, 'address_refused'],
  ['IPv6 loopback', (p) => `http://[::1]:${p}/`, 'address_refused'],
  ['IPv4 inside IPv6', (p) => `http://[::ffff:127.0.0.1]:${p}/`, 'address_refused'],
  ['the same in hexadecimal', (p) => `http://[::ffff:7f00:1]:${p}/`, 'address_refused'],
  ['IPv4 behind a translator', (p) => `http://[64:ff9b::7f00:1]:${p}/`, 'address_refused'],
  ['a private address', (p) => `http://192.168.0.1:${p}/`, 'address_refused'],
  ['a metadata service', (p) => `http://169.254.169.254:${p}/latest/meta-data`, 'address_refused'],
  [
    'a name that leads to a private address',
    (p) => `http://private.example.com:${p}/`,
    'address_refused',
  ],
  [
    'a name that leads to a public and a private one',
    (p) => `http://both.example.com:${p}/`,
    'address_refused',
  ],
  [
    'a name that leads to IPv4 inside IPv6',
    (p) => `http://mapped.example.com:${p}/`,
    'address_refused',
  ],
  ['a name that leads nowhere', (p) => `http://none.example.com:${p}/`, 'fetch_failed'],
  ['a file', () => 'file:///etc/passwd', 'url_refused'],
  ['data', () => 'data:text/plain,x', 'url_refused'],
  ['ftp', (p) => `ftp://127.0.0.1:${p}/`, 'url_refused'],
  ['a program', () => 'javascript:1', 'url_refused'],
  ['a user name', (p) => `http://user@127.0.0.1:${p}/`, 'url_refused'],
  ['credentials', (p) => `http://user:pass@example.com:${p}/`, 'url_refused'],
  ['no URL', () => 'example.com', 'url_refused'],
  ['an endless URL', (p) => `http://example.com:${p}/${'x'.repeat(3_990)}`, 'url_refused'],
];

describe('web_fetch does not reach', () => {
  const addresses: { readonly [name: string]: readonly string[] } = {
    localhost: ['127.0.0.1', '::1'],
    'localhost.': ['127.0.0.1'],
    'private.example.com': ['10.0.0.7'],
    'both.example.com': ['93.184.215.14', '127.0.0.1'],
    'mapped.example.com': ['::ffff:127.0.0.1'],
  };
  const resolve = (name: string): Promise<readonly string[]> =>
    addresses[name] === undefined
      ? Promise.reject(new Error('ENOTFOUND'))
      : Promise.resolve(addresses[name]);

  for (const [what, url, code] of internalTargets) {
    it(`${what}, requested directly`, async () => {
      const before = requests.length;
      const result = await callTool(webFetchTool({ hosts: [`*:${port}`, '*'], resolve }), {
        url: url(port),
      });
      assert.equal(getErrorCode(result), code, JSON.stringify(result));
      assert.doesNotMatch(JSON.stringify(result), /secret of the host/);
      assert.equal(requests.length, before);
    });

    it(`${what}, as a redirect target`, async () => {
      const before = requests.length;
      // The first hop is allowed; the second hop is under test.
      let hops = 0;
      const tool = open({
        resolve: (name) =>
          name === 'start.example.com' ? Promise.resolve(['127.0.0.1']) : resolve(name),
        allowsAddress: (address) => address === '127.0.0.1' && (hops += 1) === 1,
        hosts: [`*:${port}`, '*'],
      });
      const to = encodeURIComponent(url(port));
      const result = await callTool(tool, {
        url: `http://start.example.com:${port}/redirect?to=${to}`.slice(0, 4_000),
      });
      assert.equal(result.outcome, 'error');
      assert.doesNotMatch(JSON.stringify(result), /secret of the host/);
      assert.ok(requests.length - before <= 2);
      assert.ok(requests.slice(before).every(({ headers }) => headers.host?.startsWith('start.')));
    });
  }

  it('hosts outside its list, also by a redirect, another port, or a similar name', async () => {
    const tool = open({ hosts: [`example.com:${port}`, `*.docs.example.com:${port}`] });
    const code = async (url: string): Promise<unknown> =>
      getErrorCode(await callTool(tool, { url }));
    assert.equal(await code(`http://EXAMPLE.com.:${port}/page`), undefined);
    assert.equal(await code(`http://a.b.docs.example.com:${port}/page`), undefined);
    const before = requests.length;
    for (const host of [
      'other.com',
      'a.example.com',
      'docs.example.com',
      'notexample.com',
      'example.com.evil.org',
      'xdocs.example.com',
      'a.docs.example.com.evil.org',
      '127.0.0.1',
    ]) {
      assert.equal(await code(`http://${host}:${port}/page`), 'host_not_allowed', host);
    }
    assert.equal(await code('http://example.com/page'), 'host_not_allowed');
    assert.equal(await code(`http://example.com:${port + 1}/page`), 'host_not_allowed');
    assert.equal(requests.length, before);
    assert.equal(
      await code(`http://example.com:${port}/redirect?to=http://other.com:${port}/`),
      'host_not_allowed',
    );
    assert.equal(requests.length, before + 1);
  });

  it('an unencrypted target of an encrypted page', () => {
    const from = new URL('https://example.com/a');
    const to = (location: string): string | undefined =>
      redirectTarget({ statusCode: 302, headers: { location } }, from)?.href;
    assert.throws(() => to('http://example.com/b'), { code: 'redirect_refused' });
    assert.throws(() => to('file:///b'), { code: 'url_refused' });
    assert.equal(to('b'), 'https://example.com/b');
    assert.equal(to('//docs.example.com/b'), 'https://docs.example.com/b');
    assert.equal(redirectTarget({ statusCode: 200, headers: { location: 'b' } }, from), undefined);
  });

  it('a target after the redirect limit', async () => {
    assert.equal(
      getErrorCode(await callTool(open(), { url: `http://example.com:${port}/loop` })),
      'redirect_refused',
    );
    assert.equal(
      getErrorCode(
        await callTool(open({ maxRedirects: 0 }), {
          url: `http://example.com:${port}/redirect?to=/page`,
        }),
      ),
      'redirect_refused',
    );
  });
});

const badResponses: readonly (readonly [path: string, code: string])[] = [
  ['/endless', 'response_too_large'],
  ['/declared', 'response_too_large'],
  ['/gzip-bomb', 'response_too_large'],
  ['/br-bomb', 'response_too_large'],
  ['/gzip-twice', 'fetch_failed'],
  ['/broken-gzip', 'fetch_failed'],
  ['/cut', 'fetch_failed'],
  ['/binary', 'response_not_text'],
  ['/binary-text', 'response_not_text'],
];
for (const [path, code] of badResponses) {
  test(`web_fetch fails for ${path}`, async () => {
    const result = await callTool(open({ maxBytes: 1_000_000 }), {
      url: `http://example.com:${port}${path}`,
    });
    assert.equal(getErrorCode(result), code, JSON.stringify(result).slice(0, 300));
  });
}

test('an invalid host pattern is rejected when the tool is created', () => {
  for (const entry of [
    'https://example.com',
    'example.com/path',
    '',
    'a b',
    '**.com',
    'user@example.com',
    '*example.com',
    '*.',
    'ex*mple.com',
    '*.*',
  ]) {
    assert.throws(
      () => webFetchTool({ hosts: [entry] }),
      { code: 'invalid_input', field: 'hosts' },
      entry,
    );
  }
});

test('an error contains neither an internal address nor a local path', async () => {
  const tool = open({ resolve: () => Promise.resolve(['127.0.0.1']), hosts: ['*:1'] });
  const { response } = await callTool(tool, { url: 'http://example.com:1/' });
  assert.deepEqual(response, {
    error: { code: 'fetch_failed', message: 'example.com:1 could not be read: ECONNREFUSED.' },
  });
});
