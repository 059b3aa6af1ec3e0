import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../src/core/index.ts';
import { openStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import type { ServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';
import { temporaryFolder } from './temporary-folder.ts';

const KEYS = { server: { keys: 'required' } } as const;

describe('an operator', () => {
  it('lists sessions of all workspaces by status, with a key that opens no other route', async () => {
    await using on = await openServerFixture(scriptedChat, KEYS);
    const blue = await newSession(on, 'blue');
    const red = await newSession(on, 'red');
    await quarantine(on, 'red', red.id);
    const operator = await tokenFor(on, 'operator');
    const ids = async (query: string): Promise<readonly unknown[]> => {
      const { data } = await json(on, `/v1/operator/sessions?${query}`, operator);
      return (data as readonly JsonObject[]).map(({ id, status }) => [id, status]);
    };
    assert.deepEqual(await ids('status=quarantined'), [[red.id, 'quarantined']]);
    assert.deepEqual(await ids('workspace=blue'), [[blue.id, 'idle']]);
    assert.equal((await ids('')).length, 2);
    const first = await json(on, '/v1/operator/sessions?limit=1', operator);
    const second = await json(
      on,
      `/v1/operator/sessions?limit=1&page=${String(first['next_page'])}`,
      operator,
    );
    const listedSessions = [first, second].flatMap(({ data }) => data as readonly JsonObject[]);
    assert.deepEqual(new Set(listedSessions.map(({ id }) => id)), new Set([blue.id, red.id]));
    assert.equal(second['next_page'], null);
    for (const query of ['status=hung', 'page=none', 'limit=0'])
      assert.equal(
        (await request(on, `/v1/operator/sessions?${query}`, operator)).status,
        400,
        query,
      );
    assert.equal(
      (await request(on, '/v1/operator/sessions/none/evict', operator, 'POST')).status,
      404,
    );
    assert.equal((await request(on, `/v1/sessions/${red.id}`, operator)).status, 403);
    assert.equal((await request(on, `/v1/sessions/${red.id}/events`, operator)).status, 403);
  });

  it('needs a key with the scope operator: workspace keys get 403 and change nothing', async () => {
    await using on = await openServerFixture(scriptedChat, KEYS);
    const blue = await newSession(on, 'blue');
    await quarantine(on, 'blue', blue.id);
    const before = await on.store.find(toSessionKey('blue', blue.id));
    const { token: red } = await on.server.keys.create('red', 'test');
    for (const token of [blue.token, red])
      for (const [path, method] of [
        ['/v1/operator/sessions', 'GET'],
        [`/v1/operator/sessions/${blue.id}/evict`, 'POST'],
        [`/v1/operator/sessions/${blue.id}/unquarantine`, 'POST'],
      ] as const)
        assert.equal((await request(on, path, token, method)).status, 403, path);
    assert.deepEqual(await on.store.find(toSessionKey('blue', blue.id)), before);
  });

  it('releases a quarantined session, which continues', async () => {
    await using on = await openServerFixture(scriptedChat, KEYS);
    const { id, token } = await newSession(on, 'blue');
    await quarantine(on, 'blue', id);
    assert.notEqual((await send(on, id, 'Hi', token)).status, 200);
    const operator = await tokenFor(on, 'operator');
    const released = await request(
      on,
      `/v1/operator/sessions/${id}/unquarantine`,
      operator,
      'POST',
    );
    assert.equal(released.status, 200);
    const session = (await released.json()) as JsonObject;
    assert.deepEqual([session['status'], session['failures']], ['idle', 0]);
    assert.equal((await send(on, id, 'Hi', token)).status, 200);
    await waitForEvent(on, id, 'turn.ended');
  });

  for (const kind of ['sqlite', 'memory'] as const)
    it(`evicts an owner whose tool hangs: onCrash decides, and the late result is not appended (${kind})`, async () => {
      using folder = temporaryFolder();
      const url = kind === 'sqlite' ? `sqlite:${folder.path}/store.db` : 'memory:';
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const runs: string[] = [];
      const hanging = tool({
        name: 'pay',
        description: 'Pays',
        parameters: { type: 'object', properties: {} },
        onCrash: 'ask',
        execute: async () => {
          runs.push('ran');
          await released;
          return { paid: true };
        },
      });
      await using on = await openServerFixture(scriptedChat, {
        ...KEYS,
        store: await openStore(url),
        tools: [hanging],
      });
      const builtin = { type: 'builtin', name: 'pay' };
      const { id, token } = await newSession(on, 'blue', { tools: [builtin] });
      assert.equal((await send(on, id, 'call pay x', token)).status, 200);
      while (runs.length === 0) await setImmediate();
      const row = await on.store.find(toSessionKey('blue', id));
      const operator = await tokenFor(on, 'operator');
      const response = await request(on, `/v1/operator/sessions/${id}/evict`, operator, 'POST');
      const session = (await response.json()) as JsonObject;
      assert.equal(response.status, 200);
      assert.equal(session['evicted'], row?.owner);
      while ((await on.runtime.pending(id)).length === 0) await setImmediate();
      const [call] = await on.runtime.pending(id);
      assert.deepEqual([call?.name, call?.reason], ['pay', 'crash']);
      release();
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      assert.equal(
        (await on.log(id)).some(({ type }) => type === 'tool.result'),
        false,
      );
      assert.equal(runs.length, 1);
      const after = await on.store.find(toSessionKey('blue', id));
      assert.ok((after?.epoch ?? 0) >= (row?.epoch ?? 0) + 2, 'evicted and claimed again');
    });
});

function toSessionKey(
  userId: string,
  sessionId: string,
): { appName: string; userId: string; sessionId: string } {
  return { appName: 'managed', userId, sessionId };
}

async function newSession(
  on: ServerFixture,
  workspace: string,
  more: object = {},
): Promise<{ readonly id: string; readonly token: string }> {
  const { token } = await on.server.keys.create(workspace, 'test');
  const agent = await post(
    on,
    '/v1/agents',
    { name: 'A', model: 'gemini-2.5-flash', ...more },
    token,
  );
  const { id } = await post(on, '/v1/sessions', { agent: agent['id'] }, token);
  return { id: String(id), token };
}

async function tokenFor(on: ServerFixture, type: 'operator'): Promise<string> {
  return (await on.server.keys.create('default', 'ops', { scope: { type } })).token;
}

/** Records three failures in a row. */
async function quarantine(on: ServerFixture, workspace: string, id: string): Promise<void> {
  for (let failure = 0; failure < 3; failure++)
    await on.store.recordHydration(toSessionKey(workspace, id), false);
}

async function request(
  on: ServerFixture,
  path: string,
  token: string,
  method: 'GET' | 'POST' = 'GET',
): Promise<Response> {
  return fetch(on.url + path, { method, headers: { 'x-api-key': token } });
}

async function json(on: ServerFixture, path: string, token: string): Promise<JsonObject> {
  const response = await request(on, path, token);
  assert.equal(response.status, 200, path);
  return (await response.json()) as JsonObject;
}

async function post(
  on: ServerFixture,
  path: string,
  body: object,
  token: string,
): Promise<JsonObject> {
  const response = await fetch(on.url + path, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, path);
  return (await response.json()) as JsonObject;
}

async function send(on: ServerFixture, id: string, text: string, token: string): Promise<Response> {
  return fetch(`${on.url}/v1/sessions/${id}/events`, {
    method: 'POST',
    headers: { 'x-api-key': token, 'content-type': 'application/json' },
    body: JSON.stringify({ events: [userMessage(text)] }),
  });
}

async function waitForEvent(on: ServerFixture, id: string, type: string): Promise<void> {
  while (!(await on.log(id)).some((event) => event.type === type)) await setImmediate();
}
