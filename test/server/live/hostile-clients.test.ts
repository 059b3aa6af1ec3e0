/** Clients of the WebSockets that keep to no rule. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { LiveHub, liveAgent, ScriptedLive } from '../../../src/live/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { HttpError } from '../../../src/server/http/http-error.ts';
import { SocketLimits } from '../../../src/server/live/socket-limits.ts';
import { openServerFixture } from '../server-fixture.ts';
import type { ServerFixture } from '../server-fixture.ts';
import { SocketPlayer } from './socket-player.ts';
import { SocketTalk } from './socket-talk.ts';

const PROTOCOL = 'petrichor.live.v1';

async function openServer(): Promise<ServerFixture> {
  const hub = new LiveHub();
  const model = new ScriptedLive({ turns: [{ heard: 'Hello?', text: 'Hi.' }] });
  return openServerFixture(() => ({ text: 'As text.' }), {
    agents: [liveAgent({ name: 'assistant', model })],
    live: hub,
    server: { live: hub, protocols: ['managed', 'adk'] },
  });
}

/** A connection whose client never ends it. */
class RawClient {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #notify = (): void => {};

  /** Sends the request for a WebSocket. */
  constructor(port: number, path: string, headers: readonly string[] = []) {
    this.#socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.#socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#notify();
    });
    // `close` follows.
    this.#socket.on('error', () => {});
    const lines = [
      `GET ${path} HTTP/1.1`,
      `host: 127.0.0.1:${port}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      ...headers,
    ];
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  }

  /** The head of the response. */
  async readHead(): Promise<string> {
    const isComplete = (): boolean => this.#received.includes('\r\n\r\n');
    await this.#until(isComplete);
    const end = this.#received.indexOf('\r\n\r\n') + 4;
    const head = this.#received.subarray(0, end).toString('latin1');
    this.#received = this.#received.subarray(end);
    return head;
  }

  /** The code of the frame that closes the WebSocket. */
  async readClose(): Promise<number> {
    await this.#until(() => this.#received.length >= 4);
    assert.equal(this.#received[0], 0x88);
    return this.#received.readUInt16BE(2);
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Writes until the server answers with a reset, because it has given the connection up. */
  async writeUntilReset(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.on('close', () => resolve());
    const write = (): void => {
      if (!this.#socket.destroyed) this.#socket.write('x', () => setImmediate(write));
    };
    write();
    await promise;
  }

  end(): void {
    this.#socket.destroy();
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#notify = resolve;
      await promise;
    }
  }
}

test('a refused request leaves no connection, whatever its client does', async () => {
  await using server = await openServer();
  const { port } = server.listening;
  for (const path of ['/v1/sessions/a/live', '/v1/sessions/a/live?key=ptk_1', '/nothing']) {
    const client = new RawClient(port, path);
    assert.match(await client.readHead(), /^HTTP\/1\.1 40[04] /, path);
    await client.writeUntilReset();
  }
});

test('frames that break the rules of WebSockets end their connection, and no other', async () => {
  await using server = await openServer();
  const { id } = await server.runtime.startSession('agent_assistant', { userId: 'default' });
  const path = `/v1/sessions/${id}/live`;
  const masked = (first: number, length: readonly number[]): Buffer =>
    Buffer.from([first, ...length, 0, 0, 0, 0]);
  const frames: readonly (readonly [string, Buffer])[] = [
    ['text without a mask', Buffer.from([0x81, 2, 0x7b, 0x7d])],
    ['compressed text', masked(0xc1, [0x80])],
    ['an unknown kind', masked(0x83, [0x80])],
    ['a continuation of nothing', masked(0x80, [0x80])],
    ['a ping in parts', masked(0x09, [0x80])],
    ['2^63 bytes', masked(0x82, [0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255])],
    ['more bytes than the limit', masked(0x82, [0xff, 0, 0, 0, 0, 0, 1, 0, 1])],
    ['text that is not UTF-8', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff])],
  ];
  for (const [name, frame] of frames) {
    const client = new RawClient(server.listening.port, path, [
      `sec-websocket-protocol: ${PROTOCOL}`,
    ]);
    assert.match(await client.readHead(), /^HTTP\/1\.1 101 /, name);
    client.write(frame);
    assert.ok([1002, 1007, 1009].includes(await client.readClose()), name);
    client.end();
  }
  const socket = new WebSocket(server.url.replace('http', 'ws') + path, PROTOCOL);
  await once(socket, 'open');
  socket.send('{"type":"hello"}');
  const [ready] = (await once(socket, 'message')) as [Buffer];
  assert.match(String(ready), /"ready"/);
  socket.terminate();
});

test('frames without audio, or with hardly any, count as audio', async () => {
  for (const bytes of [0, 2]) {
    await using talk = await SocketTalk.open({ turns: [] });
    const player = new SocketPlayer(talk.clock);
    player.connect(talk.server.accept);
    await talk.until(() => player.ready !== undefined);
    for (let frame = 0; frame <= 5_000; frame++) player.sendAudio(new Uint8Array(bytes));
    await talk.until(() => player.closed !== undefined);
    assert.match(JSON.stringify(player.errors), /faster than real time/);
  }
});

test('a client that changes its sample rate gets no more audio than real time', () => {
  const limits = new SocketLimits(new SimulatedClock(), { messages: 'a', journaled: 'b' });
  for (let second = 0; second < 10; second++) {
    const rate = 8_000 + second;
    limits.takeAudio(2 * rate, rate);
  }
  assert.throws(() => limits.takeAudio(96_000, 48_000), HttpError);
});

test('reports that audio was stopped are limited as edges of speech are', async () => {
  await using talk = await SocketTalk.open({ turns: [] });
  const { player } = talk;
  player.connect(talk.server.accept);
  await talk.until(() => player.ready !== undefined);
  for (let report = 0; report <= 240; report++)
    player.send({ type: 'stopped', reply: 'none', played_ms: 1 });
  await talk.until(() => player.closed !== undefined);
  assert.match(JSON.stringify(player.errors), /240 edges of speech and reports of stopped audio/);
});
