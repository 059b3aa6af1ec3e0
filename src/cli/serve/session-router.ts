import { rmSync } from 'node:fs';
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { platform } from 'node:os';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { RequestRouting } from '../../server/internal.ts';
import type { WorkerStart } from './worker-message.ts';

/** The address of the client, from one worker to another. */
const ADDRESS_HEADER = 'x-petrichor-client-address';
/** Headers of one connection, which are not passed on. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['connection', 'keep-alive']);
const SESSION_IN_PATH = /\/sessions\/([^/?]+)/;
/** The state of a session is read from the store, in whichever worker. */
const STATE_OF_SESSION = /\/v1\/sessions\/[^/?]+(?:\?|$)/;

/**
 * Passes each request that names a session in its path to the same worker, over a local socket, except one that only
 * reads the state of the session. So a session is loaded in one worker, and its streams read what that worker has in
 * memory. Any worker could answer: one that cannot be reached is left out.
 */
export class SessionRouter implements RequestRouting {
  readonly socketPath: string;
  readonly #start: WorkerStart;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(start: WorkerStart) {
    this.#start = start;
    this.socketPath = toSocketPath(start, start.worker);
    // That of the worker before this one, which has died.
    if (platform() !== 'win32') rmSync(this.socketPath, { force: true });
  }

  readonly findAddress = ({ headers }: IncomingMessage): string =>
    [headers[ADDRESS_HEADER] ?? ''].flat().join(',');

  readonly handle: RequestRouting['handle'] = (incoming, outgoing, address, answerHere) => {
    const socketPath = this.#findOther(incoming);
    if (socketPath === undefined) answerHere();
    else this.#pass({ incoming, outgoing, address, socketPath, answerHere });
  };

  readonly handleUpgrade: RequestRouting['handleUpgrade'] = (
    incoming,
    socket,
    head,
    address,
    answerHere,
  ) => {
    const socketPath = this.#findOther(incoming);
    if (socketPath === undefined) answerHere();
    else passUpgrade({ incoming, socket, head, address, socketPath, answerHere });
  };

  /** The socket of the worker of a session. Undefined: this one answers. */
  #findOther({ method, url = '' }: IncomingMessage): string | undefined {
    const [, session] = SESSION_IN_PATH.exec(url) ?? [];
    if (session === undefined || (method === 'GET' && STATE_OF_SESSION.test(url))) return undefined;
    const home = pickWorker(session, this.#start.workers);
    return home === this.#start.worker ? undefined : toSocketPath(this.#start, home);
  }

  #pass({
    incoming,
    outgoing,
    address,
    socketPath,
    answerHere,
  }: {
    readonly incoming: IncomingMessage;
    readonly outgoing: ServerResponse;
    readonly address: string;
    readonly socketPath: string;
    readonly answerHere: () => void;
  }): void {
    const { method = 'GET', url = '' } = incoming;
    const passed = request({
      socketPath,
      agent: this.#agent,
      method,
      path: url,
      headers: toHeaders(incoming.rawHeaders, address, OF_THE_CONNECTION),
    });
    let isSent = false;
    const send = (): void => {
      isSent = true;
      if (hasBody(incoming)) incoming.pipe(passed);
      else passed.end();
    };
    passed.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', send);
      else send();
    });
    passed.once('response', (response) => {
      const { statusCode = 500, rawHeaders, headers } = response;
      outgoing.writeHead(statusCode, toHeaders(rawHeaders, undefined, NOT_IN_A_RESPONSE));
      // The first event of a stream may come later.
      if (headers['content-length'] === undefined) outgoing.flushHeaders();
      // A response that breaks off breaks off here, too.
      response.on('error', () => outgoing.destroy());
      // Not `pipeline`, which makes an error with its stack for each stream that a client leaves.
      response.pipe(outgoing);
    });
    passed.on('error', () => {
      // Nothing has been sent: the other worker has ended. Afterwards, the client sees what it sees of a server that ends.
      if (!isSent) answerHere();
      else outgoing.destroy();
    });
    outgoing.once('close', () => passed.destroy());
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

const NOT_IN_A_RESPONSE: ReadonlySet<string> = new Set([...OF_THE_CONNECTION, 'transfer-encoding']);

function passUpgrade({
  incoming,
  socket,
  head,
  address,
  socketPath,
  answerHere,
}: {
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly address: string;
  readonly socketPath: string;
  readonly answerHere: () => void;
}): void {
  const { method = 'GET', url = '', rawHeaders } = incoming;
  const other = connect(socketPath);
  other.once('error', answerHere);
  other.once('connect', () => {
    other.off('error', answerHere);
    const headers = toHeaders(rawHeaders, address, new Set());
    const lines = [`${method} ${url} HTTP/1.1`];
    for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
    other.write(`${lines.join('\r\n')}\r\n\r\n`);
    other.write(head);
    other.once('error', () => socket.destroy());
    socket.once('error', () => other.destroy());
    socket.once('close', () => other.destroy());
    // Each end passes on what it has got before it ends the other.
    socket.pipe(other).pipe(socket);
  });
}

/** Header names and values in turns, as Node has them. */
function toHeaders(
  raw: readonly string[],
  address: string | undefined,
  leftOut: ReadonlySet<string>,
): string[] {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2);
    // A client cannot name its own address.
    if (leftOut.has(name.toLowerCase()) || name.toLowerCase() === ADDRESS_HEADER) continue;
    headers.push(name, value);
  }
  return address === undefined ? headers : [...headers, ADDRESS_HEADER, address];
}

function toSocketPath({ folder }: WorkerStart, worker: number): string {
  return platform() === 'win32'
    ? `\\\\.\\pipe\\${basename(folder)}-${worker}`
    : join(folder, `${worker}.sock`);
}

/** The number of the worker of a session, from 1. Spreads sessions evenly. */
export function pickWorker(sessionId: string, workers: number): number {
  let hash = 0;
  for (const character of sessionId) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return (hash % workers) + 1;
}
