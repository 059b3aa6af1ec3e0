import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LiveHub } from '../../../src/live/index.ts';
import { createServer } from '../../../src/server/index.ts';
import { openServerFixture } from '../server-fixture.ts';

test('the page of live sessions is served with a strict policy, and nothing beside it', async (t) => {
  const files = mkdtempSync(join(tmpdir(), 'petrichor-page-'));
  t.after(() => rmSync(files, { recursive: true }));
  const live = new LiveHub();
  const fixture = await openServerFixture(() => ({ text: 'Hi.' }));
  t.after(async () => fixture[Symbol.asyncDispose]());
  const { runtime } = fixture;
  const open = async (options: object): ReturnType<typeof createServer> =>
    createServer({ runtime, keys: 'required', basePath: '/api', ...options });

  await assert.rejects(open({ livePage: { files } }), { message: /^livePage: needs live/ });
  await assert.rejects(open({ live, livePage: { files } }), { code: 'live_page_files_missing' });
  mkdirSync(join(files, 'assets'));
  writeFileSync(join(files, 'index.html'), '<p>page</p>');
  writeFileSync(join(files, 'assets', 'a.js'), 'run();');
  writeFileSync(join(files, 'secret.txt'), 'secret');
  const server = await open({ live, livePage: { files } });
  t.after(async () => server.close());
  const get = async (path: string, init: RequestInit = {}): Promise<Response> =>
    server.fetch(new Request(`http://127.0.0.1${path}`, init));

  const page = await get('/api/live/');
  assert.equal(await page.text(), '<p>page</p>');
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'self'; /);
  assert.doesNotMatch(policy, /unsafe|data:|blob:|\*/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.equal(page.headers.get('permissions-policy')?.includes('microphone=(self)'), true);
  assert.equal((await get('/api/live')).headers.get('location'), '/api/live/');
  const script = await get('/api/live/assets/a.js');
  assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/);
  for (const path of [
    'secret.txt',
    'assets/../secret.txt',
    'assets/%2e%2e/secret.txt',
    'assets',
    'x',
  ])
    assert.equal((await get(`/api/live/${path}`)).status, 404, path);
  assert.equal((await get('/api/live/', { method: 'POST' })).status, 405);
  // The page has no data: with keys it is public, and without keys a foreign host name does not get it.
  const open2 = await open({ keys: 'off', live, livePage: { files } });
  t.after(async () => open2.close());
  const rebound = new Request('http://evil.example/api/live/');
  assert.equal((await open2.fetch(rebound)).status, 403);
});
