import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createClient } from '../../../src/client/index.ts';
import type { ServerMessage } from '../../../src/server/live/live-messages.ts';
import { readSideEffects } from '../../crash/side-effects.ts';
import { freePort } from '../../free-port.ts';
import { ServeProcess } from '../serve-process.ts';

/** A client that plays at once what it receives, and reconnects. */
class QuickClient {
  readonly #url: string;
  /** Each sample that was played, by reply: the position of the next one. */
  readonly played = new Map<string, number>();
  readonly twice: string[] = [];
  readonly errors: ServerMessage[] = [];
  readonly #numbers = new Map<number, { readonly reply: string; readonly rate: number }>();
  #call: string | undefined;
  #reply: string | undefined;
  #socket: WebSocket | undefined;

  constructor(url: string) {
    this.#url = url.replace('http', 'ws');
  }

  async connect(): Promise<void> {
    const socket = new WebSocket(this.#url, 'petrichor.live.v1');
    this.#socket = socket;
    this.#numbers.clear();
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => {
      if (isBinary) this.#play(data);
      else this.#receive(JSON.parse(String(data)) as ServerMessage, resolve);
    });
    await once(socket, 'open');
    const resume = this.#call !== undefined && {
      call: this.#call,
      ...(this.#reply !== undefined && {
        reply: this.#reply,
        played_ms: (this.played.get(this.#reply) ?? 0) / 24,
      }),
    };
    this.#send({ type: 'hello', ...(resume !== false && { resume }) });
    await ready;
  }

  speak(ms: number, loudness: number): void {
    for (let at = 0; at < ms; at += 20)
      this.#socket?.send(new Uint8Array(new Int16Array(320).fill(loudness).buffer));
  }

  close(): void {
    this.#socket?.terminate();
  }

  #send(message: object): void {
    this.#socket?.send(JSON.stringify(message));
  }

  #receive(message: ServerMessage, onReady: () => void): void {
    switch (message.type) {
      case 'ready':
        this.#call = message.call;
        onReady();
        return;
      case 'reply':
        this.#numbers.set(message.number, { reply: message.reply, rate: message.sample_rate });
        return;
      case 'flush':
        if (this.#reply !== undefined)
          this.#send({ type: 'stopped', reply: this.#reply, played_ms: this.#playedMs(24_000) });
        return;
      case 'error':
        this.errors.push(message);
        return;
      default:
    }
  }

  #play(bytes: Buffer): void {
    const found = this.#numbers.get(bytes.readUInt32LE(0));
    if (found === undefined) throw new Error('audio came before its reply');
    const { reply, rate } = found;
    const from = bytes.readUInt32LE(4);
    const next = this.played.get(reply) ?? 0;
    // It skips what it has, as the documentation says. More than a sample of rounding would be a repetition by the server.
    if (from < next - 1) this.twice.push(`${reply} ${from} ${next}`);
    this.played.set(reply, Math.max(next, from + (bytes.byteLength - 8) / 2));
    this.#reply = reply;
    this.#send({ type: 'played', reply, played_ms: this.#playedMs(rate) });
  }

  #playedMs(rate: number): number {
    return ((this.played.get(this.#reply ?? '') ?? 0) * 1000) / rate;
  }
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(5);
}

test('a server that is killed while user and model speak, and during a tool, continues the conversation', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-live-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'effects.jsonl');
  const start = async (port: string): Promise<ServeProcess> =>
    ServeProcess.start({
      folder,
      args: [join(import.meta.dirname, 'killable-live-agent.ts'), '--live', '--port', port],
      env: { SIDE_EFFECTS: file },
    });
  let server = await start(String(await freePort()));
  t.after(async () => server[Symbol.asyncDispose]());
  const { port } = server;
  const http = createClient({ baseUrl: server.url, retries: 100 });
  const [agent = ''] = server.agents;
  const { id } = await http.sessions.create({ agent });
  const client = new QuickClient(`${server.url}/v1/sessions/${id}/live`);
  t.after(() => client.close());
  const gaps: number[] = [];
  const kill = async (): Promise<void> => {
    await server.end('SIGKILL');
    server = await start(port);
    const from = performance.now();
    await client.connect();
    gaps.push(Math.round(performance.now() - from));
  };
  const read = async (): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const event of http.sessions.listEvents(id, { limit: 1000 }))
      lines.push(`${event.type}${'content' in event ? ` ${JSON.stringify(event.content)}` : ''}`);
    return lines;
  };
  const count = async (type: string): Promise<number> =>
    (await read()).filter((line) => line.startsWith(type)).length;

  await client.connect();
  client.speak(200, 4_000);
  client.speak(200, 0);
  await until(() => client.played.size > 0);
  // The user speaks over the reply, and the server dies before it has understood that, or after it.
  client.speak(200, 4_000);
  await kill();
  await until(async () => (await count('session.status_idle')) > 0);

  client.speak(200, 4_000);
  client.speak(200, 0);
  await until(() => readSideEffects(file).length > 0);
  await kill();
  await until(async () => (await count('session.status_idle')) > 1);

  client.speak(200, 4_000);
  client.speak(200, 0);
  await until(async () => (await count('session.status_idle')) > 2);

  const log = await read();
  t.diagnostic(`ready after ${gaps.join(', ')} ms`);
  assert.deepEqual(client.twice, []);
  assert.deepEqual(client.errors, []);
  assert.equal(readSideEffects(file).length, 1, 'the tool ran once');
  const users = log.filter((line) => line.startsWith('user.message'));
  assert.match(users.join(), /Tell me a story.*Pay Ann.*Thanks/, log.join('\n'));
  assert.ok(
    log.some((line) => line.includes('You are welcome.')),
    log.join('\n'),
  );
});
