import * as v from 'valibot';
import { component, field } from '../wire/component.ts';
import type { WireSchema } from '../wire/component.ts';
import { deletion, page, time } from '../wire/responses/response-parts.ts';
import { WEBHOOK_EVENTS } from './webhook.ts';

/** A webhook. */
export const webhookResponse: WireSchema<'Webhook'> = component(
  'Webhook',
  'A URL that receives events of a workspace, and calls of custom tools.',
  v.object({
    id: v.string(),
    type: v.literal('webhook'),
    url: v.string(),
    events: v.array(v.picklist(WEBHOOK_EVENTS)),
    tools: field('Custom tools whose calls the webhook answers, by name.', v.array(v.string())),
    created_at: time,
    secret: field(
      'Key of the signatures. Only the response to the creation has it.',
      v.exactOptional(v.string()),
    ),
  }),
);

/** A page of webhooks. */
export const webhookPage: WireSchema<'WebhookPage'> = page('WebhookPage', webhookResponse);

/** The response to the deletion of a webhook. */
export const webhookDeleted: WireSchema<'WebhookDeleted'> = deletion(
  'WebhookDeleted',
  'webhook_deleted',
);
