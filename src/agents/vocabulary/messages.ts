import * as v from 'valibot';
import type { CallId, Content, JsonObject, LogEntry } from '../../core/index.ts';
import { outlet, place } from '../../net/index.ts';
import type { Outlet, TokenPlace } from '../../net/index.ts';
import { messageMetadataSchema } from './message-metadata.ts';
import type { MessageMetadata } from './message-metadata.ts';
import { contentSchema, json } from './place-schemas.ts';

/** A user's message that waits for its turn. */
export interface IncomingMessage {
  readonly messageId: string;
  readonly invocationId: string;
  readonly content: Content;
  /** State to write before the turn begins. */
  readonly stateDelta?: JsonObject | undefined;
  readonly metadata?: MessageMetadata | undefined;
}

/** Messages, in the order of arrival. */
export const userIn: TokenPlace<IncomingMessage> = place(
  'user.in',
  v.object({
    messageId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
    invocationId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
    content: contentSchema,
    stateDelta: v.optional(json<JsonObject>()),
    metadata: v.optional(messageMetadataSchema),
  }),
  { environment: true, owed: true, version: 1 },
);

/** An answer from outside to a parked call. */
export interface Answer {
  readonly callId: CallId;
  readonly decision: 'approved' | 'denied' | 'answered';
  readonly message?: string | undefined;
  /** The result, when `answered`. */
  readonly response?: JsonObject | undefined;
  readonly isError?: boolean | undefined;
  /** Set for a progress report: `response` is not the result yet. */
  readonly isUpdate?: boolean | undefined;
  /** Fingerprint of the approved call. An approval of other arguments does not count. */
  readonly fingerprint?: string | undefined;
}

/** Answers to parked calls. */
export const answerIn: TokenPlace<Answer> = place(
  'answer.in',
  v.object({
    callId: v.pipe(v.string(), v.nonEmpty('must not be empty')),
    decision: v.picklist(['approved', 'denied', 'answered']),
    message: v.optional(v.string()),
    response: v.optional(json<JsonObject>()),
    isError: v.optional(v.boolean()),
    isUpdate: v.optional(v.boolean()),
    fingerprint: v.optional(v.string()),
  }),
  { environment: true, version: 1 },
);

/** The log: entries leave the net here, in the order in which clients read them. */
export const eventOut: Outlet<LogEntry> = outlet(
  'event.out',
  v.custom<LogEntry>((value) => typeof value === 'object' && value !== null && 'type' in value),
);
