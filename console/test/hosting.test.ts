import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWrittenConfig } from '../../test/server/read-written-config.ts';
import { travel } from './agents.ts';
import { openConsoleServer } from './console-server.ts';

test('the console is served under any base path, with a policy that allows only its own files', async () => {
  await using server = await openConsoleServer({
    agents: [travel],
    server: { basePath: '/agents' },
  });
  for (const path of ['console', 'console/', 'console/s/SESSION?at=3']) {
    const page = await fetch(`${server.url}/agents/${path}`);
    assert.equal(page.status, 200, path);
    assert.match(await page.text(), /<base href="\/agents\/console\/" \/>/, path);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'self'; script-src 'self' 'wasm-unsafe-eval';/, path);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*/, path);
    assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
  }
  const page = await (await fetch(`${server.url}/agents/console/`)).text();
  const config = readWrittenConfig(page);
  assert.equal(Reflect.get(Object(config), 'server'), '../');
});

test('no path leads to a file outside of the console, and no method but GET is served', async () => {
  await using server = await openConsoleServer({ agents: [travel] });
  const outside = [
    'console/../index.js',
    'console/%2e%2e/index.js',
    'console/..%2findex.js',
    'console/assets/..%2f..%2findex.js',
    'console/assets/%2e%2e%5cindex.js',
    'console//etc/passwd.js',
    'console/assets/none.js',
    'console/.hidden.js',
    'console/index.js%00.html',
  ];
  for (const path of outside) {
    const { status } = await fetch(`${server.url}/${path}`);
    assert.notEqual(status, 200, path);
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    assert.equal((await fetch(`${server.url}/console/`, { method })).status, 405, method);
});

test('without the option, the console is not served', async () => {
  await using server = await openConsoleServer({ agents: [travel], server: { console: false } });
  assert.equal((await fetch(`${server.url}/console/`)).status, 404);
});
