import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openManagedRuntime } from '../../src/managed/index.ts';
import {
  consoleHandler,
  ConsoleFilesMissingError,
  createServer,
  listen,
} from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { rawRequest } from '../security/served-routes.ts';
import type { ConsoleOptions } from '../../src/server/index.ts';
import { readWrittenConfig } from './read-written-config.ts';

/** A folder of files like those that the build of the console writes. */
function createFiles(): { readonly files: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-console-'));
  const files = join(folder, 'console');
  mkdirSync(join(files, 'assets'), { recursive: true });
  writeFileSync(
    join(files, 'index.html'),
    '<head><base href="/" /><script type="module" src="./assets/a-1.js"></script></head>',
  );
  writeFileSync(join(files, 'assets', 'a-1.js'), 'export {};');
  writeFileSync(join(folder, 'secret.txt'), 'outside');
  return { files, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test('an asset is compressed for a client that accepts it', async () => {
  using folder = createFiles();
  const script = `export const text = '${'long '.repeat(1000)}';`;
  writeFileSync(join(folder.files, 'assets', 'b-2.js'), script);
  const serve = consoleHandler({ files: folder.files });
  const get = async (name: string, accepted?: string): Promise<Response> =>
    serve(
      new Request(`http://localhost/console/assets/${name}`, {
        headers: accepted === undefined ? {} : { 'accept-encoding': accepted },
      }),
    );
  for (const accepted of ['gzip', 'br, gzip;q=0.5', 'deflate , GZIP'])
    for (const time of ['first', 'second']) {
      const response = await get('b-2.js', accepted);
      assert.equal(response.headers.get('content-encoding'), 'gzip', `${accepted} ${time}`);
      assert.equal(gunzipSync(await response.bytes()).toString(), script);
      assert.equal(response.headers.get('vary'), 'accept-encoding');
    }
  for (const accepted of [undefined, '', 'br', 'gzip;q=0', 'gzip;q=0.0', 'xgzip']) {
    const response = await get('b-2.js', accepted);
    assert.equal(response.headers.get('content-encoding'), null, accepted);
    assert.equal(await response.text(), script);
    assert.equal(response.headers.get('vary'), 'accept-encoding');
  }
  const small = await get('a-1.js', 'gzip');
  assert.equal(small.headers.get('content-encoding'), null);
  assert.equal(await small.text(), 'export {};');
});

test('the page has its configuration in itself, and no address can add to it', async () => {
  using folder = createFiles();
  const serverUrl = 'https://api.example/a/?x="><script>alert(1)</script>&amp;';
  const serve = consoleHandler({ files: folder.files, serverUrl, proofs: true });
  const page = await (await serve(new Request('http://localhost/console/'))).text();
  assert.deepEqual(readWrittenConfig(page), { server: serverUrl, read_only: false, proofs: true });
  assert.doesNotMatch(page, /<script>/);
});

test('the console is served under any path, and every state of it has a URL', async () => {
  using folder = createFiles();
  const serve = consoleHandler({ basePath: '/tools/ui', files: folder.files, readOnly: true });
  const get = async (path: string, method = 'GET'): Promise<Response> =>
    serve(new Request(`http://localhost${path}`, { method }));
  const moved = await get('/tools/ui?a=1');
  assert.deepEqual([moved.status, moved.headers.get('location')], [308, '/tools/ui/?a=1']);
  for (const path of ['/tools/ui/', '/tools/ui/index.html', '/tools/ui/s/session_1?at=41']) {
    const page = await get(path);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(await page.text(), /<base href="\/tools\/ui\/" \/>/);
    assert.equal(page.headers.get('cache-control'), 'no-cache');
  }
  const script = await get('/tools/ui/assets/a-1.js');
  assert.equal(await script.text(), 'export {};');
  assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/);
  assert.match(script.headers.get('cache-control') ?? '', /immutable/);
  assert.deepEqual(readWrittenConfig(await (await get('/tools/ui/')).text()), {
    server: '../',
    read_only: true,
    proofs: false,
  });
  assert.equal(await (await get('/tools/ui/', 'HEAD')).text(), '');
  assert.equal((await get('/tools/ui/', 'POST')).status, 405);
  for (const path of [
    '/tools/ui/assets/none.js',
    '/tools/ui/..%2fsecret.txt',
    '/tools/ui/%2e%2e/secret.txt',
    '/tools/ui/../secret.txt',
    '/elsewhere',
  ])
    assert.equal((await get(path)).status, 404, path);
});

test('the pages of the console load nothing from elsewhere, and run no inline script', async () => {
  using folder = createFiles();
  const policy = async (options: ConsoleOptions): Promise<string> => {
    const serve = consoleHandler({ files: folder.files, ...options });
    const { headers } = await serve(new Request('http://localhost/console/'));
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    return headers.get('content-security-policy') ?? '';
  };
  const own = await policy({});
  assert.match(own, /default-src 'self'; script-src 'self' 'wasm-unsafe-eval';/);
  assert.match(own, /connect-src 'self';/);
  assert.match(own, /frame-ancestors 'none'/);
  assert.doesNotMatch(own, /unsafe-inline|'unsafe-eval'|\*/);
  const other = await policy({ serverUrl: 'https://api.example/v9; script-src *' });
  assert.match(other, /connect-src 'self' https:\/\/api\.example;/);
});

test('a server with a console shows it to a link of another page, and not under a foreign host name', async () => {
  using folder = createFiles();
  await using runtime = await openManagedRuntime({ store: new MemoryStore() });
  const files = { files: folder.files };
  const server = await createServer({ runtime, keys: 'off', console: files, basePath: '/api' });
  await using on = await listen(server, { port: 0, keysRequired: false });
  const get = async (path: string, headers: Record<string, string> = {}): Promise<number> =>
    (await rawRequest(on.url, 'GET', { path, headers })).status;
  assert.equal(await get('/api/console'), 308);
  assert.equal(await get('/api/console/'), 200);
  assert.equal(await get('/api/console/s/session_1'), 200);
  assert.equal(await get('/api/console/', { 'sec-fetch-site': 'cross-site' }), 200);
  assert.equal(await get('/api/v1/sessions', { 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await get('/api/console/', { host: 'evil.example' }), 403);
  assert.equal(await get('/console/'), 404);
  const plain = await createServer({ runtime, keys: 'off' });
  const reply = await plain.fetch(new Request('http://localhost/console/'));
  assert.equal(reply.status, 404, 'off by default');
  await plain.close();
});

test('wrong options, and a console that is not built, are refused by name', () => {
  using folder = createFiles();
  const { files } = folder;
  for (const basePath of ['', '/', '/a/', 'a', '/a"b', '/a b'])
    assert.throws(() => consoleHandler({ basePath, files }), { field: 'basePath' });
  assert.throws(() => consoleHandler({ serverUrl: 'javascript:alert(1)', files }), {
    field: 'serverUrl',
  });
  assert.throws(
    () => consoleHandler({ files: join(files, 'assets') }),
    (error) =>
      error instanceof ConsoleFilesMissingError && /npm ci && npm run build/.test(error.message),
  );
});
