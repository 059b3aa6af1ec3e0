import { hash } from 'node:crypto';
import { SCHEDULES_SESSION } from './schedules-session.ts';

/** Identifies a session within one app and user. Any string that `parseSessionKey` accepts. */
export type SessionId = string;
/** Identifies one incarnation of a session. A session that is deleted and created again with the same id has a new uid. */
export type SessionUid = string;
/** Identifies one message sent to a session. It is the deduplication key of the message. */
export type MessageId = string;
/** Identifies everything that one message causes: `e-` and a UUID. */
export type InvocationId = string;
/** Identifies one tool call in a session. Petrichor creates it; it is not the provider's id. */
export type CallId = string;
/** Identifies one firing of an effect over all its attempts and crashes. It is the idempotency key of a tool call. */
export type FiringId = string;

/** Returns a new random session id. */
export function newSessionId(): SessionId {
  return newUuid();
}

/** Returns a new random id for one incarnation of a session. */
export function newSessionUid(): SessionUid {
  return newUuid();
}

/** Returns a new random message id. */
export function newMessageId(): MessageId {
  return newUuid();
}

/** Derives the id of the invocation that a message starts, so that a message delivered twice cannot start two. */
export function deriveInvocationId(messageId: MessageId): InvocationId {
  return `e-${deriveUuid(`invocation:${messageId}`)}`;
}

/** Derives the id of the log event number `seq`. It is the same in every process and at every read. */
export function deriveEventId(sessionUid: SessionUid, seq: number): string {
  return deriveUuid(`${sessionUid}:${seq}`);
}

/**
 * Derives the id of a tool call: call `index` of model response `round` of an invocation (both from 0). A model call that
 * is run again after a crash therefore gives its tool calls the same ids. The id has at most 40 characters of
 * `[a-z0-9_]`, which every provider accepts.
 */
export function deriveCallId(invocationId: InvocationId, round: number, index: number): CallId {
  // Joined, like every id that a session keeps: a template is kept with its parts.
  return ['call', sha256Hex(`call:${invocationId}`).slice(0, 16), round, index].join('_');
}

/** Derives the session id of a schedule. Lists leave it out, like that of a called agent. */
export function deriveScheduleSessionId(scheduleId: string): SessionId {
  return `${SCHEDULES_SESSION}/${deriveUuid(`schedule:${scheduleId}`)}/1`;
}

/** Returns the SHA-256 of the UTF-8 text, in hexadecimal. */
export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

// Node builds a UUID from 20 strings, which V8 keeps with it: ten times the memory of the joined text.
function newUuid(): string {
  return globalThis.crypto.randomUUID().split('-').join('-');
}

// A UUID of version 8 (RFC 9562), the version for application-specific ids, here derived from a hash.
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
