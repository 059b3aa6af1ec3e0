import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import { restateDispatcher } from '../../src/interop/restate/index.ts';
import type { RestateOptions } from '../../src/interop/restate/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime, type Runtime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { RestateServer } from './restate-server.ts';

const open = async (options: Omit<RestateOptions, 'port'>): Promise<[Runtime, number]> => {
  const dispatcher = restateDispatcher({ ...options, port: 0 });
  const model = new ScriptedModel(() => ({ text: 'Yes.' }));
  const runtime = await openRuntime({
    agents: [agent({ name: 'assistant', model })],
    store: new MemoryStore(),
    dispatcher,
  });
  return [runtime, dispatcher.port];
};

test('with the public key of its Restate server, a process refuses calls of everyone else', async (t) => {
  await using server = await RestateServer.start(true);
  if (server === undefined) return t.skip('no Restate server for this platform');
  assert.match(server.publicKey, /^publickeyv1_/);
  const [runtime, port] = await open({ ingress: server.ingress, identityKeys: [server.publicKey] });
  const discover = { headers: { accept: 'application/vnd.restate.endpointmanifest.v3+json' } };
  const unsigned = await fetch(`http://127.0.0.1:${port}/discover`, discover);
  assert.equal(unsigned.status, 401);
  const drive = await fetch(`http://127.0.0.1:${port}/invoke/petrichor.petrichor/drive`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.restate.invocation.v5' },
    body: new Uint8Array(8),
  });
  assert.equal(drive.status, 401);
  await server.register(port);
  const session = await runtime.session('s');
  assert.equal(await session.send('Hello').text(), 'Yes.');
  await runtime.close();
});

test('a request for another session or application is refused for ever, and does nothing', async (t) => {
  await using server = await RestateServer.start();
  if (server === undefined) return t.skip('no Restate server for this platform');
  const [runtime, port] = await open({ ingress: server.ingress });
  await server.register(port);
  const key = { appName: 'petrichor', userId: 'default', sessionId: 's' };
  const call = async (object: string, body: unknown): Promise<Response> =>
    fetch(`${server.ingress}/petrichor.petrichor/${encodeURIComponent(object)}/drive`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const object = 'petrichor/default/s';
  const request = { key, id: 'x', attempt: 0 };
  assert.equal((await call(object, request)).status, 200);
  for (const [target, body] of [
    ['petrichor/default/t', request],
    [object, { ...request, key: { ...key, appName: 'other' } }],
    [object, { ...request, attempt: -1 }],
    [object, { ...request, id: 1 }],
    [object, null],
    [object, 'text'],
  ] as const) {
    const response = await call(target, body);
    assert.equal(response.status, 500);
    assert.match(await response.text(), /request|sessionKey|Id|appName/);
  }
  await runtime.close();
});
