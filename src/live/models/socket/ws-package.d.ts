/** The part of the package `ws` that is used here. It ships no types of its own. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { IncomingMessage } from 'node:http';
  import type { LookupFunction } from 'node:net';
  import type { Duplex } from 'node:stream';

  export interface ClientOptions {
    readonly headers?: Readonly<Record<string, string>>;
    readonly maxPayload?: number;
    readonly perMessageDeflate?: boolean;
    readonly followRedirects?: boolean;
    readonly lookup?: LookupFunction;
  }

  export interface WebSocketEvents {
    open: [];
    message: [data: Buffer, isBinary: boolean];
    pong: [];
    close: [code: number, reason: Buffer];
    error: [error: Error];
    'unexpected-response': [request: unknown, response: IncomingMessage];
  }

  export class WebSocket extends EventEmitter<WebSocketEvents> {
    constructor(url: string, options?: ClientOptions);
    constructor(url: string, protocols: string, options?: ClientOptions);
    readonly protocol: string;
    readonly bufferedAmount: number;
    /** 1: open. */
    readonly readyState: number;
    send(data: string | Uint8Array, done?: (error?: Error) => void): void;
    ping(): void;
    pause(): void;
    resume(): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
  }

  export interface ServerEvents {
    connection: [socket: WebSocket, request: IncomingMessage];
  }

  export class WebSocketServer extends EventEmitter<ServerEvents> {
    constructor(options: {
      readonly noServer: true;
      readonly maxPayload?: number;
      readonly closeTimeout?: number;
      readonly perMessageDeflate?: boolean;
      readonly handleProtocols?: (protocols: ReadonlySet<string>) => string | false;
    });
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (socket: WebSocket) => void,
    ): void;
    close(): void;
  }
}
