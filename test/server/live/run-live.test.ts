import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { App, FunctionTool, LlmAgent } from '../../../src/adk/index.ts';
import { agent } from '../../../src/agents/index.ts';
import { InMemoryArtifactService, tool } from '../../../src/tools/index.ts';
import { LiveHub, liveAgent, ScriptedLive } from '../../../src/live/index.ts';
import type { LiveScript } from '../../../src/live/index.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import { createServer, listen } from '../../../src/server/index.ts';
import type { ListeningServer, Server, ServerOptions } from '../../../src/server/index.ts';

interface WireEvent {
  readonly id?: string;
  readonly author?: string;
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  readonly error?: string;
  readonly content?: { readonly parts: readonly WirePart[] };
  readonly inputTranscription?: { readonly text: string; readonly finished: boolean };
  readonly outputTranscription?: { readonly text: string; readonly finished: boolean };
}

interface WirePart {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionCall?: { readonly id: string; readonly name: string };
  readonly functionResponse?: { readonly id: string; readonly response: object };
}

/** A client as ADK's web interface is one. */
class LiveClient {
  readonly events: WireEvent[] = [];
  readonly closed: Promise<string>;
  /** The status and text of a refused request. */
  readonly refused: Promise<string>;
  readonly #socket: WebSocket;
  #onEvent = (): void => {};
  #isClosed = false;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
    const { promise: closed, resolve: onClosed } = Promise.withResolvers<string>();
    const { promise: refused, resolve: onRefused } = Promise.withResolvers<string>();
    this.closed = closed;
    this.refused = refused;
    // `unexpected-response` and `close` follow.
    this.#socket.on('error', () => {});
    this.#socket.on('unexpected-response', (_request, response) => {
      onRefused(`${response.statusCode}`);
      response.destroy();
    });
    this.#socket.on('close', (code, reason) => {
      onClosed(`${code} ${String(reason)}`);
      this.#isClosed = true;
      this.#onEvent();
    });
    this.#socket.on('message', (data, isBinary) => {
      assert.equal(isBinary, false);
      this.events.push(JSON.parse(String(data)) as WireEvent);
      this.#onEvent();
    });
  }

  async open(): Promise<this> {
    await once(this.#socket, 'open');
    return this;
  }

  send(request: object | string): void {
    this.#socket.send(typeof request === 'string' ? request : JSON.stringify(request));
  }

  sendBytes(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  /** Audio in pieces of 250 ms, as the web interface sends it. */
  speak(): void {
    for (const loudness of [4_000, 4_000, 0]) {
      const pcm = Buffer.from(new Int16Array(4_000).fill(loudness).buffer);
      this.send({ blob: { mime_type: 'audio/pcm', data: pcm.toString('base64') } });
    }
  }

  /** Resolves when an event fits, also an earlier one. */
  async until(fits: (event: WireEvent) => boolean): Promise<WireEvent> {
    for (;;) {
      const found = this.events.find(fits);
      if (found !== undefined) return found;
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.events)}`);
      await new Promise<void>((resolve) => {
        this.#onEvent = resolve;
      });
    }
  }

  async end(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }
}

interface RunLiveServer extends AsyncDisposable {
  readonly server: Server;
  readonly listening: ListeningServer;
  /** The address of a session of a user. */
  readonly url: (query?: string) => string;
  readonly connect: (
    query?: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<LiveClient>;
  readonly read: (session: string) => Promise<readonly WireEvent[]>;
  readonly create: (session: string, app?: string, key?: string) => Promise<void>;
  readonly ran: readonly string[];
}

const QUERY = 'app_name=assistant&user_id=ada&session_id=s1';

async function open(
  script: LiveScript,
  {
    isLive = true,
    apps = [],
    ...server
  }: Partial<ServerOptions> & {
    readonly isLive?: boolean;
    readonly apps?: readonly App[];
  } = {},
): Promise<RunLiveServer> {
  const hub = new LiveHub();
  const ran: string[] = [];
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    needsApproval: true,
    execute: () => {
      ran.push('pay');
      return { paid: true };
    },
  });
  const runtime = await openRuntime({
    agents: [
      liveAgent({ name: 'assistant', model: new ScriptedLive(script), tools: [pay] }),
      ...apps,
      agent({ name: 'mute', model: new ScriptedModel(() => ({ text: 'Hi.' })) }),
    ],
    live: hub,
    artifacts: new InMemoryArtifactService(),
  });
  const created = await createServer({
    runtime,
    keys: 'off',
    ...(isLive && { live: hub }),
    protocols: ['managed', 'adk'],
    ...server,
  });
  const listening = await listen(created, { port: 0, keysRequired: server.keys === 'required' });
  const url = (query = QUERY): string => `${listening.url}/run_live?${query}`;
  const create = async (session: string, app = 'assistant', key?: string): Promise<void> => {
    const path = `${listening.url}/apps/${app}/users/ada/sessions/${session}`;
    const headers = { 'content-type': 'application/json', ...(key && { 'x-api-key': key }) };
    const response = await fetch(path, { method: 'POST', headers, body: '{}' });
    assert.equal(response.status, 200, await response.text());
  };
  if (server.keys !== 'required') await create('s1');
  return {
    server: created,
    listening,
    url,
    ran,
    create,
    connect: async (query, headers) => new LiveClient(url(query), headers).open(),
    read: async (session) => {
      const path = `${listening.url}/apps/assistant/users/ada/sessions/${session}`;
      return ((await (await fetch(path)).json()) as { readonly events: readonly WireEvent[] })
        .events;
    },
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await runtime.close();
    },
  };
}

const listParts = (events: readonly WireEvent[]): readonly WirePart[] =>
  events.flatMap(({ content }) => content?.parts ?? []);

test('a spoken turn over run_live: audio and transcripts come as events, and the session keeps them', async () => {
  await using server = await open(
    { turns: [{ heard: 'Hello?', text: 'Hi there.' }] },
    { liveRecordings: true },
  );
  const client = await server.connect(`${QUERY}&save_live_blob=true`);
  client.speak();
  await client.until(({ turnComplete }) => turnComplete === true);
  const listAudio = (): readonly string[] =>
    listParts(client.events).flatMap(({ inlineData }) => inlineData?.mimeType ?? []);
  await client.until(() => listAudio().length === 2);
  assert.deepEqual(new Set(listAudio()), new Set(['audio/pcm;rate=24000']));
  const stored = client.events.filter(({ partial }) => partial !== true);
  assert.deepEqual(
    stored.flatMap(({ author, inputTranscription: heard, outputTranscription: said }) =>
      heard === undefined && said === undefined ? [] : [`${author}: ${(heard ?? said)?.text}`],
    ),
    ['user: Hello?', 'assistant: Hi there.'],
  );
  client.send({ close: true });
  assert.equal(await client.closed, '1000 ');
  const log = await server.read('s1');
  assert.deepEqual(
    log.flatMap(({ inputTranscription: heard, outputTranscription: said }) =>
      heard === undefined && said === undefined ? [] : [(heard ?? said)?.text],
    ),
    ['Hello?', 'Hi there.'],
  );
  const base = `${server.listening.url}/apps/assistant/users/ada/sessions/s1/artifacts`;
  const names = (await (await fetch(base)).json()) as readonly string[];
  // What was sent after the end of the turn is an artifact of its own.
  assert.deepEqual([...new Set(names.map((name) => name.replace(/\d+/, '')))].toSorted(), [
    'adk_live_audio_storage_input_audio_.pcm',
    'adk_live_audio_storage_output_audio_.pcm',
  ]);
});

test('a live session is recorded over run_live only if the server allows it', async () => {
  const asked: string[] = [];
  const options: readonly Partial<ServerOptions>[] = [
    {},
    { liveRecordings: false },
    { liveRecordings: async ({ userId, sessionId }) => asked.push(`${userId} ${sessionId}`) > 1 },
  ];
  for (const more of options) {
    await using server = await open({ turns: [] }, more);
    const refused = await server.connect(`${QUERY}&save_live_blob=true`);
    assert.match(await refused.closed, /^1008 This live session may not be recorded/);
    if (typeof more.liveRecordings !== 'function') continue;
    const client = await server.connect(`${QUERY}&save_live_blob=true`);
    client.send('{');
    await client.until(({ error }) => error !== undefined);
    await client.end();
    // A live session without a recording asks nobody.
    await (await server.connect()).end();
    assert.equal(asked.length, 2);
  }
});

test('text, an approval and a change of state over run_live; the next client goes on', async () => {
  await using server = await open({
    turns: [
      { toolCalls: [{ id: 'c1', name: 'pay' }] },
      { text: 'Paid.' },
      { text: 'You are welcome.' },
    ],
  });
  const client = await server.connect(`${QUERY}&modalities=TEXT`);
  client.send({ content: { parts: [{ text: 'Pay Ann.' }] }, state_delta: { to: 'Ann' } });
  const asked = await client.until(({ content }) =>
    listParts([{ content: content ?? { parts: [] } }]).some(
      ({ functionCall }) => functionCall?.name === 'adk_request_confirmation',
    ),
  );
  const id = listParts([asked])[0]?.functionCall?.id;
  assert.deepEqual(server.ran, []);
  const answer = (callId: string | undefined): object => ({
    content: {
      role: 'user',
      parts: [
        {
          function_response: {
            id: callId,
            name: 'adk_request_confirmation',
            response: { confirmed: true },
          },
        },
      ],
    },
  });
  client.send(answer('adk-nobody'));
  await client.until(({ error }) => error !== undefined);
  client.send(answer(id));
  await client.until(({ turnComplete }) => turnComplete === true);
  assert.deepEqual(server.ran, ['pay']);
  await client.end();
  const next = await server.connect();
  next.send({ content: { role: 'user', parts: [{ text: 'Thanks.' }] } });
  await next.until(({ turnComplete }) => turnComplete === true);
  const path = `${server.listening.url}/apps/assistant/users/ada/sessions/s1`;
  const { state } = (await (await fetch(path)).json()) as { readonly state: object };
  assert.deepEqual(state, { to: 'Ann' });
  await next.end();
});

/** An app whose tool yields a price at once and for each image, until it is stopped. */
function createWatcher(script: LiveScript): {
  readonly app: App;
  readonly stopped: Promise<void>;
} {
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  const watch = new FunctionTool({
    name: 'watch',
    description: 'Watches the stock.',
    execute: async function* (_, { inputStream, signal }) {
      signal.addEventListener('abort', () => resolve());
      yield { price: 1 };
      for await (const { blob } of inputStream?.read(signal) ?? [])
        if (blob !== undefined) yield { price: 2 };
    },
  });
  const rootAgent = new LlmAgent({
    name: 'watcher',
    model: new ScriptedLive(script),
    tools: [watch],
  });
  return { app: new App({ name: 'stock', rootAgent }), stopped };
}

const STOCK = 'app_name=stock&user_id=ada&session_id=s2&modalities=TEXT';
const CALL_WATCH = { toolCalls: [{ id: 'c1', name: 'watch' }] };
const hasText =
  (wanted: string) =>
  (event: WireEvent): boolean =>
    event.partial !== true &&
    (event.outputTranscription?.text === wanted ||
      listParts([event]).some(({ text }) => text === wanted));

test('a streaming tool of an app goes on in the background over run_live, until the model stops it', async () => {
  const stop = { id: 'c2', name: 'stop_streaming', args: { function_name: 'watch' } };
  const { app, stopped } = createWatcher({
    turns: [
      CALL_WATCH,
      { text: 'I watch it.' },
      { text: 'It is at one.' },
      { text: 'It is at two.' },
      { toolCalls: [stop] },
      { text: 'I stopped.' },
    ],
  });
  await using server = await open({ turns: [] }, { apps: [app] });
  await server.create('s2', 'stock');
  const client = await server.connect(STOCK);
  client.send({ content: { parts: [{ text: 'Watch the stock.' }] } });
  await client.until(hasText('It is at one.'));
  client.send({ blob: { mime_type: 'image/jpeg', data: 'AAAA' } });
  await client.until(hasText('It is at two.'));
  client.send({ content: { parts: [{ text: 'Stop.' }] } });
  await client.until(hasText('I stopped.'));
  await stopped;
  const responses = listParts(client.events).flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [functionResponse.response],
  );
  assert.deepEqual(responses, [
    { status: 'The function is running asynchronously and the results are pending.' },
    { status: 'Successfully stopped streaming function watch' },
  ]);
  await client.end();
});

test('a streaming tool ends when its client disconnects from run_live', async () => {
  const { app, stopped } = createWatcher({
    turns: [CALL_WATCH, { text: 'I watch it.' }, { text: 'It is at one.' }],
  });
  await using server = await open({ turns: [] }, { apps: [app] });
  await server.create('s2', 'stock');
  const client = await server.connect(STOCK);
  client.send({ content: { parts: [{ text: 'Watch the stock.' }] } });
  await client.until(hasText('It is at one.'));
  await client.end();
  await stopped;
});

test('a request that is not as documented is refused with what was wrong, and the live session goes on', async () => {
  await using server = await open({ turns: [{ text: 'Still here.' }] });
  const client = await server.connect();
  const audio = { mimeType: 'audio/pcm', data: 'AA==' };
  const call = { functionCall: { id: 'x', name: 'adk_request_confirmation', args: {} } };
  const refused: readonly (readonly [object | string, RegExp])[] = [
    ['{', /JSON/],
    ['[]', /request: must be an object/],
    [{}, /empty/],
    [{ nothing: 1 }, /request\.nothing/],
    [{ blob: { ...audio, mime: 1 } }, /request\.blob\.mime/],
    [{ blob: { mimeType: 'video', data: '' } }, /mimeType/],
    [{ blob: audio }, /odd number of bytes/],
    [{ content: { parts: [] } }, /request\.content\.parts/],
    [{ content: { parts: [call] } }, /functionCall/],
    [{ close: true, content: 'x' }, /close/],
    [{ activityStart: 1 }, /activityStart/],
  ];
  for (const [request] of refused) client.send(request);
  client.sendBytes(new Uint8Array(4));
  client.send({ content: 'Hello?', activity_start: null, blob: null });
  await client.until(({ turnComplete }) => turnComplete === true);
  const errors = client.events.flatMap(({ error }) => error ?? []);
  for (const [index, [request, pattern]] of refused.entries())
    assert.match(errors[index] ?? '', pattern, JSON.stringify(request));
  assert.match(errors[refused.length] ?? '', /binary/);
  await client.end();
});

test('what cannot begin is closed with a code and a reason', async () => {
  await using server = await open({ turns: [] }, { limits: { liveConnections: 1 } });
  await server.create('m1', 'mute');
  const cases: readonly (readonly [string, RegExp])[] = [
    ['app_name=assistant&user_id=ada&session_id=none', /^1002 /],
    ['app_name=assistant&user_id=bob&session_id=s1', /^1002 /],
    ['app_name=nobody&user_id=ada&session_id=s1', /^1008 query\.app_name/],
    ['app_name=assistant&session_id=s1', /^1008 query\.user_id: is missing/],
    [`${QUERY}&key=ptk_1`, /^1008 query\.key: is unknown/],
    [`${QUERY}&modalities=SMELL`, /^1008 query\.modalities/],
    [`${QUERY}&proactive_audio=yes`, /^1008 query\.proactive_audio/],
    ['app_name=mute&user_id=ada&session_id=m1', /^1008 The agent "mute" has no live model/],
  ];
  for (const [query, pattern] of cases)
    assert.match(await (await server.connect(query)).closed, pattern, query);
  const holder = await server.connect();
  holder.send('{');
  await holder.until(({ error }) => error !== undefined);
  assert.match(await (await server.connect()).closed, /^1008 Session "s1" has a call/);
  await server.create('s2');
  const other = QUERY.replace('s1', 's2');
  assert.match(await (await server.connect(other)).closed, /^1008 This key has 1 live calls/);
  // The other kind of WebSocket has the same calls.
  const url = `${server.listening.url.replace('http', 'ws')}/v1/sessions/s1/live`;
  const socket = new WebSocket(url, 'petrichor.live.v1');
  await once(socket, 'open');
  const [[code]] = await Promise.all([
    once(socket, 'close'),
    Promise.resolve(socket.send(JSON.stringify({ type: 'hello' }))),
  ]);
  assert.equal(code, 4409);
  const taker = new WebSocket(url, 'petrichor.live.v1');
  await once(taker, 'open');
  taker.send(JSON.stringify({ type: 'hello', take_over: true }));
  assert.match(await holder.closed, /^1008 Another socket has the call/);
  const [[ended]] = await Promise.all([once(taker, 'close'), server.listening.close()]);
  assert.equal(ended, 1001);
});

test('run_live has the keys, the origins and the limits of the server', async () => {
  await using server = await open(
    { turns: [] },
    { keys: 'required', limits: { bodyBytes: 500_000 } },
  );
  const { keys } = server.server;
  const blue = await keys.create('blue', 'a');
  const reader = await keys.create('blue', 'r', { scope: { type: 'read' } });
  const red = await keys.create('red', 'b');
  await server.create('s1', 'assistant', blue.token);
  const refused = async (headers: Readonly<Record<string, string>>): Promise<string> =>
    new LiveClient(server.url(), headers).refused;
  const own = { 'x-api-key': blue.token };
  assert.equal(await refused({}), '401');
  assert.equal(await refused({ 'x-api-key': reader.token }), '403');
  assert.equal(await refused({ ...own, origin: 'https://evil.example' }), '403');
  const foreign = await server.connect(QUERY, { authorization: `Bearer ${red.token}` });
  assert.match(await foreign.closed, /^1002 /);
  const client = await server.connect(QUERY, own);
  client.send({ content: 'x'.repeat(600_000) });
  assert.match(await client.closed, /^1009/);
  const fast = await server.connect(QUERY, own);
  // Ten seconds at once are allowed. These are 20.
  const data = Buffer.alloc(320_000).toString('base64');
  fast.send({ blob: { mimeType: 'audio/pcm;rate=8000', data } });
  assert.match(await fast.closed, /^1008 Audio comes faster than real time/);
  // A message that is never complete is not kept without end.
  const partial = await server.connect(QUERY, own);
  for (let request = 0; request < 3; request++)
    partial.send({ content: 'x'.repeat(200_000), partial: true });
  assert.match(await partial.closed, /^1008 .*more than 500000 bytes/);
});

test('without live sessions, run_live says how to get them', async () => {
  await using plain = await open({ turns: [] }, { isLive: false });
  const response = await fetch(plain.url());
  assert.equal(response.status, 501);
  assert.match(await response.text(), /--live/);
});
