import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { sha256Hex } from '../../core/index.ts';
import type { Json, JsonObject, LogEventByType } from '../../core/index.ts';
import type { DocumentChange } from '../../store/index.ts';
import { callKey } from '../wire/event-keys.ts';
import { wireEventId } from '../wire/wire-event.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import type { PushMessage } from './push-format.ts';
import type { Webhook } from './webhook.ts';

/** Document kind of deliveries. */
export const DELIVERY_KIND = 'webhook-delivery';

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
  /** True: the subscription ends with this message, delivered or given up. */
  readonly isLast?: true;
}

const delivery: v.GenericSchema<unknown, Delivery> = v.object({
  workspace: v.string(),
  body: v.string(),
  dueAt: v.number(),
  tries: v.number(),
  call: v.exactOptional(v.object({ sessionId: v.string(), callId: v.string() })),
  isLast: v.exactOptional(v.literal(true)),
});

/** Parses a stored delivery. */
export function parseDelivery(value: Json): Delivery {
  return v.parse(delivery, value);
}

export function toDeliveryJson({ call, ...rest }: Delivery): Json {
  return { ...rest, ...omitUndefined({ call: call === undefined ? undefined : { ...call } }) };
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
 * Delay before the next attempt, in milliseconds; undefined when the delivery is given up, after 10 retries. A call is
 * retried for as long as it waits for its result, from the sixth retry on every minute.
 */
export function retryDelayMs({ tries, call }: Delivery): number | undefined {
  return call === undefined
    ? EVENT_RETRY_DELAYS_MS[tries - 1]
    : (CALL_RETRY_DELAYS_MS[tries - 1] ?? MINUTE);
}

interface DeliverySubject {
  readonly workspace: string;
  readonly sessionId: string;
  readonly at: number;
}

/** The change that stores the message about an event. Repeating the event gives the same message id. */
export function toEventDelivery(
  webhook: Webhook,
  {
    workspace,
    sessionId,
    type,
    at,
    key,
  }: DeliverySubject & { readonly type: string; readonly key: string },
): DocumentChange {
  const id = `whev_${sha256Hex(`${sessionId}:${key}:${type}`).slice(0, 24)}`;
  const data = { type, id: sessionId, organization_id: 'local', workspace_id: workspace };
  const body: JsonObject = { id, type: 'event', created_at: toWireTime(at), data };
  return toDeliveryInsertion(webhook, id, {
    workspace,
    body: JSON.stringify(body),
    dueAt: 0,
    tries: 0,
  });
}

/** The change that stores a message of a protocol about an event of a turn. */
export function toPushDelivery(
  webhook: Webhook,
  {
    workspace,
    key,
    message: { body, isLast },
  }: { readonly workspace: string; readonly key: string; readonly message: PushMessage },
): DocumentChange {
  const id = `whpush_${sha256Hex(key).slice(0, 24)}`;
  return toDeliveryInsertion(webhook, id, {
    workspace,
    body: JSON.stringify(body),
    dueAt: 0,
    tries: 0,
    ...(isLast && { isLast }),
  });
}

/** The change that stores the message about a call of a custom tool. */
export function toCallDelivery(
  webhook: Webhook,
  {
    workspace,
    sessionId,
    uid,
    at,
    call,
  }: DeliverySubject & { readonly uid: string; readonly call: LogEventByType<'tool.call'> },
): DocumentChange {
  const { callId, name, args } = call;
  const eventId = wireEventId(uid, callKey(callId));
  const id = `whcall_${eventId.slice('sevt_'.length)}`;
  const body: JsonObject = {
    id,
    type: 'tool_call',
    created_at: toWireTime(at),
    data: {
      type: 'agent.custom_tool_use',
      id: eventId,
      session_id: sessionId.split('/')[0] ?? sessionId,
      workspace_id: workspace,
      name,
      input: args,
    },
  };
  return toDeliveryInsertion(webhook, id, {
    workspace,
    body: JSON.stringify(body),
    dueAt: 0,
    tries: 0,
    call: { sessionId, callId },
  });
}

function toDeliveryInsertion({ id }: Webhook, message: string, delivery: Delivery): DocumentChange {
  const value: Json = toDeliveryJson(delivery);
  return { kind: DELIVERY_KIND, id: `${id}/${message}`, version: 0, value };
}
