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
import type { Store, StoreItem } from '../../src/store/index.ts';
import { InMemoryArtifactService } from '../../src/tools/index.ts';
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
    [{ user: { storageBytes: 10_000 } }, /^403 .* of 10,000 bytes of storage/],
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

test('an import reads the quotas of its workspace and of all together, and of no other workspace', async () => {
  const file = await toFile(await exportWaiting());
  const users = { bob: { sessions: 5 }, eve: { sessions: 5 } };
  const quotas = { app: { sessions: 10 }, user: { sessions: 2 }, users };
  await using runtime = await openRuntime({ agents: [noteAgent([])], quotas });
  const counted: (string | undefined)[] = [];
  const { store } = runtime;
  const countSessions = store.countSessions.bind(store);
  store.countSessions = async (filter) => {
    counted.push(filter.userId);
    return countSessions(filter);
  };
  const server = await createServer({ runtime, keys: 'required', imports: true });
  const { token } = await server.keys.create('ada', 'importer', { scope: { type: 'import' } });
  const response = await send(server, file, { token });
  assert.equal(response.status, 200, await response.text());
  assert.deepEqual(new Set(counted), new Set(['ada', undefined]));
  await server.close();
});

/** A body whose parts come one by one, each when it is asked for. What follows the last one never comes. */
function slowBody(parts: Iterable<string>): {
  readonly body: ReadableStream<Uint8Array>;
  readonly started: Promise<void>;
} {
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const rest = parts[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        resolve();
        await new Promise(setImmediate);
        const { value, done } = rest.next();
        if (done === true) return new Promise<void>(() => {});
        return controller.enqueue(Buffer.from(value));
      },
    },
    { highWaterMark: 0 },
  );
  return { body, started };
}

/** Lets time pass until the request is answered. */
async function answerLater(
  clock: SimulatedClock,
  stepMs: number,
  sent: Promise<Response>,
): Promise<Response> {
  const answers: number[] = [];
  const answered = sent.finally(() => answers.push(1));
  while (answers.length === 0) {
    clock.advance(stepMs);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  return answered;
}

test('a file that stops coming is given up, and delays only its workspace', async () => {
  const file = await toFile(await exportWaiting());
  const clock = new SimulatedClock(1_700_000_000_000);
  const store = new MemoryStore();
  await using on = await openServer(store, { clock });
  const { body, started } = slowBody([file.slice(0, 50)]);
  const stalled = send(on.server, body, on);
  await started;
  const refused = await send(on.server, file, on);
  assert.equal(refused.headers.get('retry-after'), '5');
  assert.match(await readError(refused), /^429 .*this workspace/);
  // Another workspace has a place of its own.
  const other = await on.server.keys.create('eve', 'importer', { scope: { type: 'import' } });
  assert.match(await readError(await send(on.server, file, other)), /^400 session\.key\.userId/);
  const places = ['w1', 'w2', 'w3'].map(async (workspace) => {
    const { token } = await on.server.keys.create(workspace, 'i', { scope: { type: 'import' } });
    const slow = slowBody([]);
    const sent = send(on.server, slow.body, { token });
    await slow.started;
    return { sent };
  });
  const taken = await Promise.all(places);
  assert.match(await readError(await send(on.server, file, other)), /^429 4 journal files/);
  assert.match(await readError(await answerLater(clock, 30_000, stalled)), /^408 No byte/);
  for (const { sent } of taken)
    assert.match(await readError(await answerLater(clock, 30_000, sent)), /^408 No byte/);
  assert.equal((await send(on.server, file, on)).status, 200);
});

test('a file that comes byte by byte is given up', async () => {
  const file = await toFile(await exportWaiting());
  const clock = new SimulatedClock(1_700_000_000_000);
  await using on = await openServer(new MemoryStore(), { clock });
  const { body } = slowBody(file);
  const answer = await answerLater(clock, 1000, send(on.server, body, on));
  assert.match(await readError(answer), /^408 The body came too slowly: \d+ bytes in 3\d{4} ms/);
  assert.equal((await send(on.server, file, on)).status, 200);
});

test('a file with an event that has not the members of its type is refused by field, line and value', async () => {
  const lines = await exportWaiting();
  const store = new MemoryStore();
  await using on = await openServer(store);
  const before = await listItems(store);
  const forge = (type: string, fields: object): readonly Line[] =>
    lines.map((line) =>
      Array.isArray(line['events'])
        ? {
            ...line,
            events: line['events'].map((event: Line) =>
              event.type === type ? { ...event, ...fields } : event,
            ),
          }
        : line,
    );
  const cases: (readonly [string, object, RegExp])[] = [
    ['user.message', { content: null }, /events\[0\]\.content/],
    ['user.message', { content: { role: 'user', parts: [{ text: 5 }] } }, /content\.parts\[0\]/],
    ['agent.message', { content: { role: 'model' } }, /content\.parts: is missing/],
    ['agent.message', { usage: { inputTokens: 'many' } }, /usage\.inputTokens.*"many"/],
    ['tool.call', { args: [] }, /args: must be an object/],
    ['tool.call', { origin: null }, /origin/],
    ['turn.waiting', { callIds: 5 }, /callIds.*5/],
    ['turn.ended', { stopReason: 'x' }, /stopReason.*"x"/],
  ];
  for (const [type, fields, message] of cases) {
    const text = await readError(await send(on.server, await toFile(forge(type, fields)), on));
    assert.match(text, /^400 The journal file is damaged: line \d+: step\.events/);
    assert.doesNotMatch(text, /\.\./);
    assert.match(text, message);
  }
  const at = { records: 1e300 };
  const late = lines.map((line) =>
    Array.isArray(line['records'])
      ? { ...line, records: line['records'].map((one: object) => ({ ...one, at: at.records })) }
      : line,
  );
  assert.match(
    await readError(await send(on.server, await toFile(late), on)),
    /^400 .*step\.records\[0\]\.at: must be a time in ms; it is 1e\+300/,
  );
  assert.deepEqual(await listItems(store), before);
});

test('an event that the store has in a form that cannot be read is shown as such', async () => {
  const lines = await exportWaiting();
  const store = new MemoryStore();
  const items = lines.flatMap((line) =>
    ['session', 'input', 'step', 'snapshot'].includes(line.type) ? [structuredClone(line)] : [],
  );
  for (const { events } of items as {
    events?: { type: string; at: number; content?: unknown }[];
  }[])
    for (const event of events ?? []) {
      if (event.type === 'agent.message') event.content = null;
      event.at = 1e300;
    }
  // What an earlier release has imported.
  async function* stored(): AsyncGenerator<StoreItem> {
    yield* items as unknown as StoreItem[];
  }
  await store.importItems(stored());
  await using on = await openServer(store);
  const { token } = await on.server.keys.create('ada', 'user');
  for (const path of ['events', 'events?order=desc', 'events?include=net']) {
    const response = await on.server.fetch(
      new Request(`http://127.0.0.1/v1/sessions/trip/${path}`, { headers: { 'x-api-key': token } }),
    );
    assert.equal(response.status, 200);
    assert.match(await response.text(), /of a form that this release cannot read/);
  }
});

test('a file with the uid of another session is refused, and its artifacts are not saved', async () => {
  const lines = await exportWaiting();
  const artifacts = new InMemoryArtifactService();
  await using runtime = await openRuntime({ agents: [noteAgent([])], artifacts });
  const server = await createServer({ runtime, keys: 'required', imports: true });
  const { token } = await server.keys.create('ada', 'importer', { scope: { type: 'import' } });
  const victim = await runtime.session('secret', { user: 'eve' });
  const { uid } = await victim.status();
  const key = { appName: 'petrichor', userId: 'ada', sessionId: 'trip' };
  const part = { inlineData: { mimeType: 'text/plain', data: btoa('forged') } };
  const artifact = { type: 'artifact', session: key, name: 'a', version: 0, part };
  const forged = [
    ...lines.map((line) => (line.type === 'session' ? { ...line, uid } : line)),
    { ...artifact, customMetadata: {} },
  ];
  const text = await readError(await send(server, await toFile(forged), { token }));
  assert.match(text, /^400 items: must not have the uid of another session/);
  assert.deepEqual(await artifacts.list(key), []);
  assert.deepEqual(await runtime.sessions({ user: 'ada' }), []);
  await server.close();
});

async function listItems(store: Store): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  for await (const item of store.exportItems())
    // What requests and keys store is another matter.
    if (item.type !== 'document' || item.kind.startsWith('agent') || item.kind === 'session')
      items.push(item);
  return items;
}
