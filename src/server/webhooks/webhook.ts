import { createHmac } from 'node:crypto';
import * as v from 'valibot';
import type { Json, JsonObject } from '../../core/index.ts';
import { toWireTime } from '../wire/wire-schemas.ts';

/** What a webhook may hear of. */
export const WEBHOOK_EVENTS = [
  'session.created',
  'session.status_run_started',
  'session.status_idled',
  'session.requires_action',
  'session.status_rescheduled',
  'session.status_terminated',
  'session.outcome_evaluation_ended',
  'session.archived',
  'session.deleted',
] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

/** An address that is told what happens in a workspace, and that may be asked to run custom tools. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  /** Custom tools of any agent of the workspace whose calls it answers. */
  readonly tools: readonly string[];
  /** `whsec_` and the key in base64: what it is told is signed with it. */
  readonly secret: string;
  readonly createdAt: number;
}

const webhook: v.GenericSchema<unknown, Webhook> = v.object({
  id: v.string(),
  url: v.string(),
  events: v.array(v.picklist(WEBHOOK_EVENTS)),
  tools: v.array(v.string()),
  secret: v.string(),
  createdAt: v.number(),
});

/** As it is kept. */
export function parseWebhook(value: Json): Webhook {
  return v.parse(webhook, value);
}

export function toWebhookJson({ events, tools, ...rest }: Webhook): Json {
  return { ...rest, events: [...events], tools: [...tools] };
}

/** As clients read it: its secret only when it is made. */
export function toWireWebhook(
  { id, url, events, tools, createdAt, secret }: Webhook,
  isNew = false,
): JsonObject {
  return {
    id,
    type: 'webhook',
    url,
    events: [...events],
    tools: [...tools],
    created_at: toWireTime(createdAt),
    ...(isNew && { secret }),
  };
}

/** A key that nobody can guess. */
export function newWebhookSecret(): string {
  const key = Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(32)));
  return `whsec_${key.toString('base64')}`;
}

/** The headers that prove who sent a body, and when, as of Standard Webhooks. */
export function signedHeaders(
  secret: string,
  message: { readonly id: string; readonly at: number; readonly body: string },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(message.at / 1000));
  const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${message.id}.${timestamp}.${message.body}`)
    .digest('base64');
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
