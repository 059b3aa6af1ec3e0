import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedError } from 'petrichor/models';
import { asBody, type Body, type WireFormat } from './wire-format.ts';
import type { WireTurn } from './wire-turn.ts';

/** A request as the server received it. */
export interface WireRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Body;
  /** Settles when the response is complete, or when the client has closed the connection before. */
  readonly closed: Promise<'by the client' | 'answered'>;
}

/**
 * A provider on 127.0.0.1 that plays turns: the n-th request gets the n-th turn, and all later ones
 * the last.
 */
export interface WireServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly WireRequest[];
  /** Releases one more delta of a held turn. */
  readonly release: () => void;
}

/** Responses of the server beside those of its models. */
export type ExtraHandler = (
  method: string,
  path: string,
  body: Body,
) => { readonly status: number; readonly body: unknown } | undefined;

export const WIRE_KEY = 'sk-wire-0123456789';

/**
 * The environment of a program whose provider is at this address. A key is sent to no other
 * address.
 */
export function wireEnv(
  { keyVariable }: Pick<WireFormat, 'keyVariable'>,
  baseUrl: string,
): Readonly<Record<string, string>> {
  return { [keyVariable]: WIRE_KEY, [keyVariable.replace('_API_KEY', '_BASE_URL')]: baseUrl };
}

export async function openWireServer(
  format: WireFormat,
  turns: readonly WireTurn[],
  aside: ExtraHandler = () => undefined,
): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const gate = new Gate();
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { promise: closed, resolve } = Promise.withResolvers<'by the client' | 'answered'>();
    response.once('close', () => resolve(response.writableEnded ? 'answered' : 'by the client'));
    const text = Buffer.concat(chunks).toString();
    const body = asBody(text === '' ? {} : JSON.parse(text));
    const path = request.url ?? '';
    const reply = aside(request.method ?? '', path, body);
    if (reply !== undefined) {
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply.body));
      return;
    }
    const turn = turns[Math.min(requests.length, turns.length - 1)] ?? {};
    requests.push({ path, headers: request.headers, body, closed });
    if (!format.accepts(path)) return fail(response, { kind: 'not_found', message: path });
    const key = format.getKey({ ...request.headers } as Record<string, string>);
    if (key !== undefined && key !== WIRE_KEY) return fail(response, { kind: 'auth' });
    const complaint = format.complaint(body);
    if (complaint !== undefined) {
      return fail(response, { kind: 'bad_request', message: complaint });
    }
    await play(turn, response);
  }

  async function play(turn: WireTurn, response: ServerResponse): Promise<void> {
    const { error, html } = turn;
    if (turn.hangs === 'before') return;
    if (turn.delayMs !== undefined) await delay(turn.delayMs, response);
    if (html !== undefined) {
      response.writeHead(html, { 'content-type': 'text/html' });
      response.end('<html><body><h1>Bad Gateway</h1></body></html>');
      return;
    }
    if (error?.kind === 'network') {
      response.destroy();
      return;
    }
    const inBand = error !== undefined && (turn.text !== undefined || turn.thinking !== undefined);
    const inStream = error?.kind === 'truncated' || error?.kind === 'protocol';
    if (error !== undefined && !inBand && !inStream) return fail(response, error, turn);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await write(turn, response);
  }

  async function write(turn: WireTurn, response: ServerResponse): Promise<void> {
    const { head, deltas, calls, tail } = format.stream(turn);
    const send = (text: string): Promise<void> => put(response, text, turn.bytewise === true);
    for (const text of head) await send(text);
    for (const [i, text] of deltas.entries()) {
      if (i > 0 && turn.deltaDelayMs !== undefined) await delay(turn.deltaDelayMs, response);
      if (turn.held === true) await gate.passed();
      await send(text);
    }
    if (turn.garbage === true || turn.error?.kind === 'protocol') await send('data: {"oops\n\n');
    else if (turn.error !== undefined && turn.error.kind !== 'truncated') {
      await send(format.failureFrame(turn.error));
    }
    if (turn.hangs === 'after') return;
    const sentCalls = turn.cut === 'in-call' ? calls.slice(0, -1) : calls;
    for (const text of sentCalls) await send(text);
    if (turn.cut === 'reset') {
      response.destroy();
      return;
    }
    const isCut = turn.cut !== undefined || turn.error !== undefined;
    for (const text of isCut ? [] : tail) await send(text);
    response.end();
  }

  function fail(response: ServerResponse, error: ScriptedError, turn: WireTurn = {}): void {
    const { status, body } = format.failure(error);
    const { retryAfterMs } = error;
    const inBody = JSON.stringify(body).includes('RetryInfo');
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (retryAfterMs !== undefined) {
      if (turn.retryHeader === 'retry-after-ms') headers['retry-after-ms'] = `${retryAfterMs}`;
      else if (turn.retryHeader === 'retry-after-date') {
        headers['retry-after'] = new Date(Date.now() + retryAfterMs).toUTCString();
      } else if (!inBody) headers['retry-after'] = `${retryAfterMs / 1000}`;
    }
    response.writeHead(status, headers).end(JSON.stringify(body));
  }

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    release: () => gate.open(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function put(response: ServerResponse, text: string, bytewise: boolean): Promise<void> {
  const bytes = Buffer.from(text);
  const pieces = bytewise ? [...bytes].map((byte) => Buffer.of(byte)) : [bytes];
  for (const piece of pieces) {
    if (response.destroyed) return;
    await new Promise((resolve) => response.write(piece, resolve));
  }
}

// Ends early when the client is gone, so that no timer outlives its test.
async function delay(ms: number, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  await sleep(ms, undefined, { signal: gone.signal }).catch(() => undefined);
}

/** Lets as many waiters through as it was opened for. */
class Gate {
  #open = 0;
  readonly #waiting: (() => void)[] = [];

  open(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#open++;
    else next();
  }

  async passed(): Promise<void> {
    if (this.#open > 0) {
      this.#open--;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    await promise;
  }
}
