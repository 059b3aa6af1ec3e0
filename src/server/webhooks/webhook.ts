import { omitUndefined } from '../../core/internal.ts';
import { createHmac } from 'node:crypto';
import * as v from 'valibot';
import type { Json } from '../../core/index.ts';
import type { Wire } from '../wire/component.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import type { PushTarget } from './push-format.ts';

/** Events that a webhook can subscribe to. */
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

/** A URL that receives events of a workspace, and calls of custom tools. */
export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  /** Names of custom tools, of any agent of the workspace, whose calls it answers. */
  readonly tools: readonly string[];
  /** Signing secret: `whsec_` and the key in base64. */
  readonly secret: string;
  readonly createdAt: number;
  /** The one turn whose progress it receives, in the format of a protocol. `secret` then has the client's credentials. */
  readonly push?: PushTarget;
}

const webhook: v.GenericSchema<unknown, Webhook> = v.object({
  id: v.string(),
  url: v.string(),
  events: v.array(v.picklist(WEBHOOK_EVENTS)),
  tools: v.array(v.string()),
  secret: v.string(),
  createdAt: v.number(),
  push: v.exactOptional(
    v.object({
      protocol: v.string(),
      sessionId: v.string(),
      invocationId: v.string(),
      configId: v.string(),
      version: v.string(),
    }),
  ),
});

/** Parses a stored webhook. */
export function parseWebhook(value: Json): Webhook {
  return v.parse(webhook, value);
}

export function toWebhookJson({ events, tools, push, ...rest }: Webhook): Json {
  return {
    ...rest,
    events: [...events],
    tools: [...tools],
    ...omitUndefined({ push: push === undefined ? undefined : { ...push } }),
  };
}

/** Converts a webhook to the format of the HTTP API. The secret is shown only at creation. */
export function toWireWebhook(
  { id, url, events, tools, createdAt, secret }: Webhook,
  isNew = false,
): Wire<'Webhook'> {
  return {
    id,
    type: 'webhook',
    url,
    events: [...events],
    tools: [...tools],
    created_at: toWireTime(createdAt),
    ...omitUndefined({ secret: isNew ? secret : undefined }),
  };
}

/** Generates a random signing secret of 32 bytes. */
export function newWebhookSecret(): string {
  const key = Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(32)));
  return `whsec_${key.toString('base64')}`;
}

/** Signature headers according to Standard Webhooks: they prove who sent a body, and when. */
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
