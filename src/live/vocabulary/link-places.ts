import * as v from 'valibot';
import { omitUndefined } from '../../core/internal.ts';
import { outlet, place } from '../../net/index.ts';
import type { Outlet, TokenPlace } from '../../net/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { count, id, optionalSignalSchema, signalSchema, smallJson, text } from './signal-schema.ts';

/** What the connections of a call are opened with. */
export interface LinkSettings {
  /** Options of the call: a `LiveConfig`. */
  readonly config?: JsonObject | undefined;
  /** A resumption handle that the client has. */
  readonly handle?: string | undefined;
}
/** The beginning of a call. */
export interface CallStart extends LinkSettings {
  /** The run config of its spoken turns. */
  readonly runConfig?: JsonObject | undefined;
}
const settingsFields = {
  config: v.optional(smallJson<JsonObject>()),
  handle: v.optional(v.pipe(v.string(), v.maxLength(8_000))),
};

/** Asks for a live connection: a client begins a call. */
export const linkStart: TokenPlace<CallStart> = place(
  'link.start',
  signalSchema<CallStart>({ ...settingsFields, runConfig: v.optional(smallJson<JsonObject>()) }),
  { environment: true, version: 1 },
);
/** Ends the live connection: the client hangs up. */
export const linkStop: TokenPlace<null> = place('link.stop', { environment: true });

/** A call that is on. */
export type CallSettings = Pick<CallStart, 'runConfig'>;
/** A call is on: the session has a connection, or wants one. Its live models answer. */
export const linkCalled: TokenPlace<CallSettings | null> = place(
  'link.called',
  // Without a version, as the tokens of earlier releases, which are null.
  optionalSignalSchema<CallSettings>({ runConfig: v.optional(smallJson<JsonObject>()) }),
);

/** An attempt to connect. */
export interface LinkAttempt extends LinkSettings {
  /** How many attempts in a row have failed. */
  readonly attempt: number;
  /** The agent that it is for. Absent in a session of one agent, and before the first reply. */
  readonly agent?: string | undefined;
  /** Why a quota refused the attempt before. */
  readonly refusal?: string | undefined;
}
const attemptSchema = signalSchema<LinkAttempt>({
  ...settingsFields,
  attempt: count,
  agent: v.optional(id),
  refusal: v.optional(text),
});

/** A connection is wanted. */
export const linkWanted: TokenPlace<LinkAttempt> = place('link.wanted', attemptSchema, {
  version: 1,
});
/** A connection that may be opened: it has taken its part of `link.budget`. */
export const linkRequest: TokenPlace<LinkAttempt> = place('link.request', attemptSchema, {
  version: 1,
});

/** An open connection. Its socket belongs to the process that owns the session. */
export interface Link {
  readonly conn: string;
  /** How many items of the conversation it was opened with. */
  readonly historyLength: number;
  /** The agent that it is for. Absent in a session of one agent. */
  readonly agent?: string | undefined;
  /** The options of the call. */
  readonly config?: JsonObject | undefined;
}
const linkSchema = signalSchema<Link>({
  conn: id,
  historyLength: count,
  agent: v.optional(id),
  config: v.optional(smallJson<JsonObject>()),
});

/** An attempt to open a connection like this one. */
export function toAttempt({ agent, config }: Partial<Link> = {}): LinkAttempt {
  return { attempt: 0, ...omitUndefined({ agent, config }) };
}

/** The open connection. Two tokens only between a `go-away` and the swap to the next connection. */
export const linkUp: TokenPlace<Link> = place('link.up', linkSchema, { version: 1 });
/** The connection is lost, or could not be opened. The next attempt follows after a delay. */
export const linkDown: TokenPlace<LinkAttempt> = place('link.down', attemptSchema, { version: 1 });
/** The server no longer knows the conversation of `link.handle`. */
export const linkExpired: TokenPlace<LinkAttempt> = place('link.expired', attemptSchema, {
  version: 1,
});
/** One token for each connection that may still be opened. A finished reply fills it again. */
export const linkBudget: TokenPlace<null> = place('link.budget');

/** A resumption handle: it restores the server's side of a conversation. */
export interface LinkHandle {
  readonly handle: string;
  /** How many items of the conversation the server has. */
  readonly historyLength: number;
  /** The agent whose conversation it is. Absent in a session of one agent. */
  readonly agent?: string | undefined;
}
/** The newest resumption handle. */
export const linkHandle: TokenPlace<LinkHandle> = place(
  'link.handle',
  signalSchema<LinkHandle>({
    handle: v.pipe(v.string(), v.maxLength(8_000)),
    historyLength: count,
    agent: v.optional(id),
  }),
  { version: 1 },
);

/** The session has another connection now, or none. What the old one was to answer is asked again. */
export const linkChanged: TokenPlace<null> = place('link.changed');

/** The id of a connection. */
export interface LinkEnd {
  readonly conn: string;
}
const endSchema = signalSchema<LinkEnd>({ conn: id });
const environment = { environment: true, version: 1 } as const;
/** The next connection is being made, because the server will close the current one. */
export const linkRotating: TokenPlace<null> = place('link.rotating');
/** A connection has closed. */
export const linkClosed: TokenPlace<LinkEnd> = place('link.closed', endSchema, environment);
/** The server will close this connection soon. */
export const linkGoAway: TokenPlace<LinkEnd> = place('link.go-away', endSchema, environment);
/** A handle of a connection. */
export interface ArrivedHandle extends LinkEnd {
  readonly handle: string;
}
/** A handle that has arrived. */
export const linkHandleArrived: TokenPlace<ArrivedHandle> = place(
  'link.handle-arrived',
  signalSchema<ArrivedHandle>({
    conn: id,
    handle: v.pipe(v.string(), v.maxLength(8_000)),
  }),
  environment,
);

/** A signal that came too late: its connection or its reply is over. */
export interface StaleSignal {
  readonly kind: string;
  readonly reply?: string | undefined;
}
/** Signals of connections and replies that are over. They leave the net, and nothing reads them. */
export const liveStale: Outlet<StaleSignal> = outlet(
  'live.stale',
  signalSchema<StaleSignal>({ kind: text, reply: v.optional(id) }),
  { version: 1 },
);
