import type { WebSocket } from 'ws';
import type { SessionKey } from '../../core/index.ts';
import type { LiveHub } from '../../live/index.ts';
import type { Caller } from '../auth/api-keys.ts';
import type { CallSlots } from './call-slots.ts';

/** What the WebSockets of a server share. */
export interface LiveServices {
  readonly hub: LiveHub;
  readonly slots: CallSlots;
  /** Whether a client may have its live session recorded. */
  readonly mayRecord: (session: SessionKey) => Promise<boolean>;
  /** Maximum size of a message, in bytes: of one that is read as audio goes by, and of a body. */
  readonly limits: { readonly messageBytes: number; readonly bodyBytes: number };
}

/** A request for a WebSocket. */
export interface SocketRequest {
  readonly url: URL;
  readonly params: (name: string) => string;
  /**
   * Authenticates with the key of the headers, or another one, and checks its scope.
   * @throws HttpError 401, 403, 429
   */
  readonly authenticate: (key?: string) => Promise<Caller>;
}

/** What an open socket reports to its server. */
export interface SocketEvents {
  /** The request was accepted or refused, with its HTTP status. Called once. */
  readonly onOpened: (status: number, caller: Caller | undefined) => void;
  readonly onClosed: () => void;
  readonly onError: (error: unknown) => void;
}

/** A socket of a client. */
export interface OpenSocket {
  /** The server closes. The client may connect again. */
  readonly goAway: () => void;
}

/** Takes the WebSocket of a request that was accepted. */
export type AcceptSocket = (socket: WebSocket, events: SocketEvents) => OpenSocket;

/** A kind of WebSocket. */
export interface SocketRoute {
  /** For example `/v1/sessions/{session_id}/live`. */
  readonly path: string;
  /** Maximum size of a message, in bytes. */
  readonly messageBytes: number;
  /** The subprotocol that clients must offer. Default: none. */
  readonly subprotocol?: string;
  /** Checks a request, before it gets a WebSocket. @throws HttpError */
  readonly check: (request: SocketRequest) => Promise<AcceptSocket>;
}
