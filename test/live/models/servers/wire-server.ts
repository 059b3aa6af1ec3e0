import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

/** A WebSocket server on 127.0.0.1 that a test drives. */
export interface WireServer {
  readonly port: number;
  /** Every message of a client, oldest first, as JSON. */
  readonly received: readonly unknown[];
  /** The requests that asked for a WebSocket, with method, path and headers. */
  readonly upgrades: readonly IncomingMessage[];
  /** The connections, oldest first, closed ones included. */
  readonly sockets: readonly WebSocket[];
  readonly close: () => Promise<void>;
}

/** What a server does with one connection. */
export interface WireSession {
  readonly onMessage: (message: unknown) => void;
  readonly onClose: () => void;
}

/** A refusal by HTTP, before there is a WebSocket. */
export interface HttpRefusal {
  readonly status: number;
  readonly body: string;
}

/** Opens a server. `accept` returns the session of a connection; `refuse` decides before it. */
export async function openWireServer(options: {
  readonly refuse: (url: URL, request: IncomingMessage) => HttpRefusal | undefined;
  readonly accept: (socket: WebSocket, url: URL, request: IncomingMessage) => WireSession;
}): Promise<WireServer> {
  const received: unknown[] = [];
  const upgrades: IncomingMessage[] = [];
  const sockets: WebSocket[] = [];
  const upgrader = new WebSocketServer({
    noServer: true,
    // OpenAI's browser clients send the key as a subprotocol, and expect `realtime` back.
    handleProtocols: (protocols) => (protocols.has('realtime') ? 'realtime' : false),
  });
  const server = createServer((_request, response) => {
    response.writeHead(426).end();
  });
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    upgrades.push(request);
    const url = new URL(`ws://127.0.0.1${request.url ?? '/'}`);
    const refusal = options.refuse(url, request);
    if (refusal !== undefined) {
      const { status, body } = refusal;
      const length = Buffer.byteLength(body);
      stream.end(
        `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n${body}`,
      );
      return;
    }
    upgrader.handleUpgrade(request, stream, head, (socket) => {
      sockets.push(socket);
      const session = options.accept(socket, url, request);
      socket.on('message', (data) => {
        const message: unknown = JSON.parse(data.toString('utf8'));
        received.push(message);
        session.onMessage(message);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => session.onClose());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    received,
    upgrades,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.terminate();
      upgrader.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
