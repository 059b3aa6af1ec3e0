import { hash } from 'node:crypto';

/** Identifies a session inside one app and user. Any string `parseSessionKey` accepts. */
export type SessionId = string;
/** Identifies one incarnation of a session for ever: a session deleted and made again under its old id has another uid. */
export type SessionUid = string;
/** Identifies one message sent to a session. It is the message's dedupe key. */
export type MessageId = string;
/** Groups everything one message set off: `e-` and a UUID. */
export type InvocationId = string;
/** Identifies one tool call in a session. Minted by us, never by a provider. */
export type CallId = string;
/** Identifies one firing of an effect over all its attempts and crashes: the idempotency key of a tool call. */
export type FiringId = string;

/** A fresh random session id. */
export function newSessionId(): SessionId {
  return globalThis.crypto.randomUUID();
}

/** A fresh random id for one incarnation of a session. */
export function newSessionUid(): SessionUid {
  return globalThis.crypto.randomUUID();
}

/** A fresh random message id. */
export function newMessageId(): MessageId {
  return globalThis.crypto.randomUUID();
}

/** The invocation a message starts. Derived, so a message delivered twice cannot start two. */
export function deriveInvocationId(messageId: MessageId): InvocationId {
  return `e-${deriveUuid(`invocation:${messageId}`)}`;
}

/** The id of the log event number `seq`: the same in every process and at every read. */
export function deriveEventId(sessionUid: SessionUid, seq: number): string {
  return deriveUuid(`${sessionUid}:${seq}`);
}

/**
 * The id of a tool call: the `index`-th call of the `round`-th model answer of an invocation (both from 0).
 * Derived, so a model call that is run again after a crash names its calls alike. It is at most 40 characters of
 * `[a-z0-9_]`, which every provider accepts.
 */
export function deriveCallId(invocationId: InvocationId, round: number, index: number): CallId {
  return `call_${sha256Hex(`call:${invocationId}`).slice(0, 16)}_${round}_${index}`;
}

/** SHA-256 of the UTF-8 text, in hexadecimal. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

// RFC 9562 UUID version 8: the layout for ids made by a rule of one's own, here from a hash.
function deriveUuid(text: string): string {
  const hex = sha256Hex(text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
