import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { readCopyLines, toCopyLines } from '../../src/runtime/copies/copy-lines.ts';
import { createServer } from '../../src/server/index.ts';
import type { Server, ServerOptions } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { noteAgent, openNoter } from './loaded-store.ts';

interface Line {
  readonly type: string;
  readonly [name: string]: unknown;
}

/** A session of the user `default` that waits for an approval, as a journal file. */
async function exportWaiting(): Promise<readonly Line[]> {
  const folder = new CommandFolder();
  const store = join(folder.path, 'source.db');
  {
    await using runtime = await openNoter(store, []);
    const session = await runtime.session('trip', { user: 'ada' });
    await session.ask('first');
    for await (const _ of session.send('ask'));
  }
  const file = join(folder.path, 'trip.jsonl');
  const exported = await folder.run(['export', 'trip', '--store', store, '--output', file]);
  assert.equal(exported.code, 0);
  const lines: Line[] = [];
  const chunks = [readFileSync(file)];
  async function* read(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  for await (const { value } of readCopyLines(read(), file)) lines.push(value as unknown as Line);
  return lines;
}

async function toFile(lines: readonly Line[]): Promise<string> {
  let text = '';
  for await (const line of toCopyLines(lines)) text += line;
  return text;
}

async function openServer(
  store: Store,
  options: Partial<ServerOptions> = {},
): Promise<
  AsyncDisposable & { readonly server: Server; readonly runs: string[]; readonly token: string }
> {
  const runs: string[] = [];
  const runtime = await openNoter(store, runs);
  const server = await createServer({ runtime, keys: 'required', imports: true, ...options });
  const { token } = await server.keys.create('ada', 'importer', { scope: { type: 'import' } });
  return {
    server,
    runs,
    token,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await runtime.close();
    },
  };
}

interface Sent {
  readonly token: string;
  readonly type?: string;
}

async function send(
  server: Server,
  body: string | ReadableStream<Uint8Array>,
  { token, type = 'application/x-ndjson' }: Sent,
): Promise<Response> {
  const headers = { 'x-api-key': token, 'content-type': type };
  const init: RequestInit = { method: 'POST', headers, body, duplex: 'half' };
  return server.fetch(new Request('http://127.0.0.1/v1/imports', init));
}

async function readError(response: Response): Promise<string> {
  const { error } = (await response.json()) as { readonly error: { readonly message: string } };
  return `${response.status} ${error.message}`;
}

test('an imported session continues, and runs no finished call again', async () => {
  const lines = await exportWaiting();
  const record = {
    type: 'document',
    kind: 'session',
    id: 'trip',
    version: 1,
    value: { id: 'trip', userId: 'eve', agentId: 'x', title: 'Trip', metadata: { a: 'b' } },
  };
  const store = new MemoryStore();
  await using on = await openServer(store);
  const response = await send(on.server, await toFile([...lines, record]), on);
  assert.equal(response.status, 200);
  const session = (await response.json()) as Line;
  assert.deepEqual(
    [session['id'], session['title'], session['metadata']],
    ['trip', 'Trip', { a: 'b' }],
  );
  // The record of the file is not taken.
  assert.deepEqual(await store.documents({ kind: 'session' }), []);
  assert.match(await readError(await send(on.server, await toFile(lines), on)), /^409 .*exists/);

  const { token } = await on.server.keys.create('ada', 'user');
  const post = async (path: string, body: object): Promise<Response> =>
    on.server.fetch(
      new Request(`http://127.0.0.1/v1/sessions/trip${path}`, {
        method: 'POST',
        headers: { 'x-api-key': token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  const [waiting] = (await store.list({ status: 'waiting' })).flatMap(({ pending }) => pending);
  const confirmed = await post('/events', {
    events: [{ type: 'user.tool_confirmation', tool_use_id: waiting?.callId, result: 'allow' }],
  });
  assert.equal(confirmed.status, 200, await confirmed.clone().text());
  while ((await store.list({ status: 'idle' })).length === 0)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  assert.deepEqual(on.runs, ['paid ask']);
});

test('a file that is not of the workspace, its agents and its session is refused, and nothing is written', async () => {
  const lines = await exportWaiting();
  const isSession = ({ type }: Line): boolean => type === 'session';
  const change = (fields: object): readonly Line[] =>
    lines.map((line) => (isSession(line) ? { ...line, ...fields } : line));
  const key = { appName: 'petrichor', userId: 'ada', sessionId: 'trip' };
  const store = new MemoryStore();
  await using on = await openServer(store);
  await store.writeDocuments([
    { kind: 'workspace-agent', id: 'eve/agent_eves', version: 0, value: null },
    { kind: 'agent', id: 'agent_eves', version: 0, value: {} },
  ]);
  const cases: (readonly [readonly Line[], RegExp])[] = [
    [change({ key: { ...key, userId: 'eve' } }), /^400 session\.key\.userId/],
    [change({ key: { ...key, appName: 'other' } }), /^400 session\.key\.appName/],
    [change({ key: { ...key, sessionId: 'petrichor:schedules' } }), /^400 session\.key\.sessionId/],
    [change({ agent: 'unknown' }), /^404 .*"unknown"/],
    [change({ agent: 'agent_eves-v1' }), /^404 There is no agent "agent_eves"/],
    [change({ agent: 'noter-v1-e0123456789abcdef' }), /^404 .*environment/],
    [change({ head: 0 }), /^400 The journal file is damaged/],
    [lines.slice(0, -1).filter(({ type }) => type !== 'step'), /^400 The journal file is damaged/],
    [
      [...lines, { type: 'document', kind: 'api-key', id: 'k', version: 1, value: {} }],
      /^400 The journal file has the document "k" of the kind "api-key"/,
    ],
    [
      [...lines, { type: 'shared', appName: 'petrichor', userId: '', name: 'a', version: 1 }],
      /^400 The journal file has a line of the type "shared"/,
    ],
  ];
  // Lists show these times as dates. One that is none would break the list of the workspace.
  const at = 8_640_000_000_000_001;
  const isStep = ({ type }: Line): boolean => type === 'step';
  const changeSteps = (fields: (line: Line) => object): readonly Line[] =>
    lines.map((line) => (isStep(line) ? { ...line, ...fields(line) } : line));
  const toLate = ({ events }: Line): object => ({
    events: Array.isArray(events) ? events.map((event: object) => ({ ...event, at })) : [],
  });
  for (const forged of [
    change({ createdAt: at }),
    changeSteps(() => ({ at })),
    changeSteps(toLate),
  ])
    cases.push([forged, /^400 The journal file is damaged: line \d+: .* must be a time/]);
  const before = await listItems(store);
  for (const [index, [forged, message]] of cases.entries()) {
    const response = await send(on.server, await toFile(forged), on);
    assert.match(await readError(response), message, `case ${index}`);
  }
  const whole = await toFile(lines);
  for (const cut of [0, 1, Math.floor(whole.length / 2), whole.length - 2])
    assert.match(await readError(await send(on.server, whole.slice(0, cut), on)), /^400 /);
  assert.deepEqual(await listItems(store), before);
  // Definitions in the file change no agent.
  const definition = {
    type: 'document',
    kind: 'agent-version',
    id: 'agent_eves/000000002',
    version: 1,
    value: {},
  };
  assert.equal((await send(on.server, await toFile([...lines, definition]), on)).status, 200);
  assert.deepEqual(await store.documents({ kind: 'agent-version', prefix: 'agent_eves' }), []);
});

test('only a key with the scope import may import, where the server allows it', async () => {
  const file = await toFile(await exportWaiting());
  const store = new MemoryStore();
  await using on = await openServer(store);
  for (const type of ['full', 'read', 'console', 'operator', 'metrics'] as const) {
    const { token } = await on.server.keys.create('ada', type, { scope: { type } });
    assert.match(await readError(await send(on.server, file, { token })), /^403 .*scope import/);
  }
  const list = await on.server.fetch(
    new Request('http://127.0.0.1/v1/sessions', { headers: { 'x-api-key': on.token } }),
  );
  assert.equal(list.status, 403);
  for (const type of ['text/plain', 'application/json', ''])
    assert.match(await readError(await send(on.server, file, { token: on.token, type })), /^415 /);
  await using off = await openServer(store, { imports: false });
  assert.match(await readError(await send(off.server, file, off)), /^501 .*petrichor import/);
  await using small = await openServer(store, { limits: { importBytes: 100 } });
  assert.match(await readError(await send(small.server, file, small)), /^413 .*100 bytes/);
  assert.deepEqual(await store.list({}), []);
});

test('a workspace without room for another session cannot import one', async () => {
  const file = await toFile(await exportWaiting());
  for (const [quotas, reason] of [
    [{ user: { sessions: 1 } }, /^403 .*1 of 1 open sessions/],
    [{ app: { sessions: 1 } }, /^403 The quota of all users together is used up: open sessions/],
  ] as const) {
    await using runtime = await openRuntime({ agents: [noteAgent([])], quotas });
    await runtime.session('first', { user: 'ada' });
    const server = await createServer({ runtime, keys: 'required', imports: true });
    const { token } = await server.keys.create('ada', 'importer', { scope: { type: 'import' } });
    assert.match(await readError(await send(server, file, { token })), reason);
    assert.equal((await runtime.store.list({})).length, 1);
    await server.close();
  }
});

test('one file is imported at a time, and one that stops coming is given up', async () => {
  const file = await toFile(await exportWaiting());
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  await using on = await openServer(store, { clock });
  const started = Promise.withResolvers<void>();
  const slow = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        controller.enqueue(Buffer.from(file.slice(0, 50)));
        started.resolve();
        // The rest never comes.
        return new Promise<void>(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  const answers: number[] = [];
  const stalled = send(on.server, slow, on).finally(() => answers.push(1));
  await started.promise;
  assert.match(await readError(await send(on.server, file, on)), /^429 /);
  while (answers.length === 0) {
    clock.advance(30_000);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  assert.match(await readError(await stalled), /^408 /);
  assert.equal((await send(on.server, file, on)).status, 200);
});

async function listItems(store: Store): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of store.exportItems())
    // What requests and keys store is another matter.
    if (item.type !== 'document' || item.kind.startsWith('agent') || item.kind === 'session')
      items.push(item);
  return items;
}
