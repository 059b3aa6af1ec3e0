import * as v from 'valibot';
import type { Json } from '../../core/index.ts';

/** A message to a webhook, stored until it is delivered. Times are epoch milliseconds. */
export interface Delivery {
  readonly workspace: string;
  readonly body: string;
  /** 0: immediately. */
  readonly dueAt: number;
  /** Number of attempts so far. */
  readonly tries: number;
  /** The call that the response of the webhook answers. */
  readonly call?: { readonly sessionId: string; readonly callId: string };
}

const delivery: v.GenericSchema<unknown, Delivery> = v.object({
  workspace: v.string(),
  body: v.string(),
  dueAt: v.number(),
  tries: v.number(),
  call: v.exactOptional(v.object({ sessionId: v.string(), callId: v.string() })),
});

/** Parses a stored delivery. */
export function parseDelivery(value: Json): Delivery {
  return v.parse(delivery, value);
}

export function toDeliveryJson({ call, ...rest }: Delivery): Json {
  return { ...rest, ...(call !== undefined && { call: { ...call } }) };
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const EVENT_RETRY_DELAYS_MS = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  24 * HOUR,
];
const CALL_RETRY_DELAYS_MS = [SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 30 * SECOND];

/**
 * Delay before the next attempt, in milliseconds; undefined when the delivery is given up after 10 retries. A call is
 * retried every minute, for as long as it waits for its result.
 */
export function retryDelayMs({ tries, call }: Delivery): number | undefined {
  return call === undefined
    ? EVENT_RETRY_DELAYS_MS[tries - 1]
    : (CALL_RETRY_DELAYS_MS[tries - 1] ?? MINUTE);
}
