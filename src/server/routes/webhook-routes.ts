import * as v from 'valibot';
import { notFound } from '../http/http-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { newWebhookSecret, toWireWebhook, WEBHOOK_EVENTS } from '../webhooks/webhook.ts';
import { webhookDeleted, webhookPage, webhookResponse } from '../webhooks/webhook-responses.ts';
import { component } from '../wire/component.ts';
import { nonEmptyText } from '../wire/wire-schemas.ts';

const create = component(
  'WebhookParams',
  'Definition of a new webhook. Default of `events`: all types, or none if `tools` is set.',
  v.object({
    url: nonEmptyText(2048),
    events: v.nullish(
      v.array(
        v.picklist(WEBHOOK_EVENTS, `must be one of ${WEBHOOK_EVENTS.join(', ')}`),
        'must be a list',
      ),
    ),
    tools: v.nullish(
      v.pipe(v.array(nonEmptyText(64), 'must be a list'), v.maxLength(256, 'must be at most 256')),
    ),
  }),
);

/** Routes for webhooks, which receive events and answer calls of custom tools. */
export function webhookRoutes(context: ServerContext): readonly HttpRoute[] {
  const { webhooks, clock, newId } = context;
  return [
    defineRoute('POST /v1/webhooks: Create a webhook; the response shows its secret once', {
      response: webhookResponse,
      body: create,
      creates: true,
      run: async ({ caller: { workspace }, body, idempotentRequest }) => {
        const { url, tools } = body;
        const events = body.events ?? (tools == null ? WEBHOOK_EVENTS : []);
        const webhook = await webhooks.add(workspace, {
          id: await idempotentRequest.reserveId(newId('webhook')),
          url,
          events,
          tools: tools ?? [],
          secret: newWebhookSecret(),
          createdAt: clock.now(),
        });
        return toWireWebhook(webhook, true);
      },
    }),
    defineRoute('GET /v1/webhooks: List webhooks', {
      response: webhookPage,
      run: async ({ caller: { workspace } }) => ({
        // A subscription to one turn belongs to the protocol that made it.
        data: (await webhooks.list(workspace))
          .filter(({ push }) => push === undefined)
          .map((one) => toWireWebhook(one)),
        next_page: null,
      }),
    }),
    defineRoute('GET /v1/webhooks/{webhook_id}: Read a webhook', {
      response: webhookResponse,
      run: async ({ caller: { workspace }, params }) => {
        const found = await webhooks.find(workspace, params('webhook_id'));
        if (found === undefined) throw notFound('webhook', params('webhook_id'));
        return toWireWebhook(found);
      },
    }),
    defineRoute('DELETE /v1/webhooks/{webhook_id}: Delete a webhook', {
      response: webhookDeleted,
      run: async ({ caller: { workspace }, params }) => {
        const id = params('webhook_id');
        if (!(await webhooks.remove(workspace, id))) throw notFound('webhook', id);
        return { id, type: 'webhook_deleted' };
      },
    }),
  ];
}
