import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { ClientRequest, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { SessionRouter } from './session-router.ts';

/** Of two workers, the first has the session `b`, the second `a`. */
const OF_WORKER_2 = '/v1/sessions/a/events?beta=true';
const OF_WORKER_1 = '/v1/sessions/b/events';

/** A worker that answers with its number, what it got, and the address of the client. */
class TestWorker implements AsyncDisposable {
  readonly #servers: readonly Server[];
  readonly #worker: number;

  private constructor(worker: number, servers: readonly Server[]) {
    this.#worker = worker;
    this.#servers = servers;
  }

  static async start(worker: number, folder: string): Promise<TestWorker> {
    const router = new SessionRouter({ petrichor: 'start', worker, workers: 2, folder });
    const answer = async (incoming: IncomingMessage, address: string): Promise<string> =>
      [worker, incoming.method, incoming.url, address, await text(incoming)].join(' ');
    const atPort = createServer((incoming, outgoing) => {
      router.handle(incoming, outgoing, 'client', () => {
        void answer(incoming, 'client').then((body) => outgoing.end(body));
      });
    });
    atPort.on('upgrade', (incoming: IncomingMessage, socket, head: Buffer) => {
      router.handleUpgrade(incoming, socket, head, 'client', () => {
        endWith(socket, `${worker} client`);
      });
    });
    const atSocket = createServer((incoming, outgoing) => {
      void answer(incoming, router.findAddress(incoming)).then((body) =>
        outgoing.writeHead(201, { 'x-more': ['one', 'two'] }).end(body),
      );
    });
    atSocket.on('upgrade', (incoming: IncomingMessage, socket) => {
      endWith(socket, `${worker} ${router.findAddress(incoming)}`);
    });
    atPort.listen(0, '127.0.0.1');
    atSocket.listen(router.socketPath);
    await Promise.all([once(atPort, 'listening'), once(atSocket, 'listening')]);
    return new TestWorker(worker, [atPort, atSocket]);
  }

  get port(): number {
    const [address] = this.#servers.map((server) => server.address() as AddressInfo);
    return address?.port ?? 0;
  }

  async send(
    path: string,
    headers: Record<string, string> = {},
    method = 'POST',
  ): Promise<IncomingMessage & { body: string }> {
    const sent = request({ port: this.port, path, method, headers, agent: false });
    sent.end(method === 'POST' ? 'body' : undefined);
    const [response]: IncomingMessage[] = await once(sent, 'response');
    assert.ok(response !== undefined, `worker ${this.#worker} answers`);
    return Object.assign(response, { body: await text(response) });
  }

  async upgrade(path: string): Promise<string> {
    const headers = { connection: 'upgrade', upgrade: 'test' };
    const sent = request({ port: this.port, path, headers, agent: false }).end();
    const [, socket, head]: [IncomingMessage, NodeJS.ReadableStream, Buffer] = (await once(
      sent,
      'upgrade',
    )) as never;
    return head.toString() + (await text(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    }
  }
}

function endWith(socket: Duplex, body: string): void {
  socket.end(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}

test('a request of a session is answered by its worker, with the address of the client', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-router-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  await using first = await TestWorker.start(1, folder);
  const second = await TestWorker.start(2, folder);

  const passed = await first.send(OF_WORKER_2, { 'x-petrichor-client-address': 'forged' });
  assert.equal(passed.body, `2 POST ${OF_WORKER_2} client body`);
  assert.equal(passed.statusCode, 201);
  assert.equal(passed.headers['x-more'], 'one, two');
  assert.equal((await first.send(OF_WORKER_1)).body, `1 POST ${OF_WORKER_1} client body`);
  assert.equal((await second.send(OF_WORKER_1)).body, `1 POST ${OF_WORKER_1} client body`);
  assert.equal((await first.send('/v1/agents')).body, '1 POST /v1/agents client body');

  // Whoever has the connection reads the state of a session. Its log is read where the session is.
  for (const [path, worker] of [
    ['/v1/sessions/a', 1],
    ['/v1/sessions/a?beta=true', 1],
    ['/v1/sessions/a/events', 2],
    ['/apps/app/users/ada/sessions/a', 2],
  ] as const)
    assert.equal((await first.send(path, {}, 'GET')).body, `${worker} GET ${path} client `);
  assert.equal((await first.send('/v1/sessions/a')).body, '2 POST /v1/sessions/a client body');

  assert.equal(await first.upgrade(OF_WORKER_2), '2 client');
  assert.equal(await second.upgrade(OF_WORKER_2), '2 client');

  // The worker of the session has ended: the one that has the connection answers.
  await second[Symbol.asyncDispose]();
  assert.equal((await first.send(OF_WORKER_2)).body, `1 POST ${OF_WORKER_2} client body`);
  assert.equal(await first.upgrade(OF_WORKER_2), '1 client');
});

test('what breaks off on one side of a passed request breaks off on the other', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-router-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [first, second] = [1, 2].map(
    (worker) => new SessionRouter({ petrichor: 'start', worker, workers: 2, folder }),
  );
  assert.ok(first !== undefined && second !== undefined);
  const port = createServer((incoming, outgoing) => first.handle(incoming, outgoing, '', () => {}));
  const home = createServer();
  t.after(() => {
    for (const server of [port, home]) server.close().closeAllConnections();
  });
  port.listen(0, '127.0.0.1');
  home.listen(second.socketPath);
  await Promise.all([once(port, 'listening'), once(home, 'listening')]);
  const address = { port: (port.address() as AddressInfo).port, path: OF_WORKER_2, agent: false };
  const begin = async (
    method: string,
  ): Promise<{ sent: ClientRequest; incoming: IncomingMessage; outgoing: ServerResponse }> => {
    const sent = request({ ...address, method }).on('error', () => {});
    if (method === 'GET') sent.end();
    else sent.write('the first half');
    const [incoming, outgoing]: [IncomingMessage, ServerResponse] = (await once(
      home,
      'request',
    )) as never;
    return { sent, incoming, outgoing };
  };

  // The worker of the session ends in the middle of its response, whose headers came before the first event.
  const broken = await begin('GET');
  broken.outgoing.flushHeaders();
  const [response]: [IncomingMessage] = (await once(broken.sent, 'response')) as never;
  broken.outgoing.write('an event');
  assert.equal(String((await once(response, 'data'))[0]), 'an event');
  broken.outgoing.destroy();
  await assert.rejects(text(response), { code: 'ECONNRESET' });

  // The client leaves a stream.
  const left = await begin('GET');
  left.outgoing.flushHeaders();
  await once(left.sent, 'response');
  left.sent.destroy();
  await once(left.outgoing, 'close');
  assert.equal(left.outgoing.writableFinished, false);

  // The client leaves before the end of its body.
  const half = await begin('POST');
  half.sent.destroy();
  await assert.rejects(text(half.incoming), { code: 'ECONNRESET' });
});
