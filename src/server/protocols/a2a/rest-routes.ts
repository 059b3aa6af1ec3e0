import * as v from 'valibot';
import type { JsonObject } from '../../../core/index.ts';
import { HttpError, notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { IdentifiedFrame } from '../run-response.ts';
import { eventResponse, openCall } from './a2a-call.ts';
import type { A2aCall, StreamEvent } from './a2a-call.ts';
import type { A2aSdk } from './a2a-sdk.ts';
import { ErrorTranslator } from './error-translator.ts';
import type { ListTasksQuery } from './list-tasks.ts';

const CONTENT_TYPE = 'application/a2a+json';

const anyBody = v.looseObject({});
const anyResponse = v.looseObject({});
const optionalText = v.optional(v.pipe(v.string(), v.maxLength(4096)));

type Call = RouteCall<unknown, Readonly<Record<string, unknown>>>;
type Frames = AsyncGenerator<IdentifiedFrame<JsonObject>, void, undefined>;

/** HTTP+JSON of A2A 1.0. */
export function restRoutes(context: ServerContext, sdk: A2aSdk): readonly HttpRoute[] {
  const answer =
    (read: (opened: A2aCall, call: Call) => Promise<JsonObject | undefined>, status = 200) =>
    async (call: Call): Promise<Response> =>
      respond(context, sdk, call, async (opened) => {
        const body = await read(opened, call);
        if (body === undefined) return new Response(null, { status: 204 });
        return Response.json(body, { status, headers: { 'content-type': CONTENT_TYPE } });
      });
  const stream =
    (open: (opened: A2aCall, call: Call) => Frames) =>
    async (call: Call): Promise<Response> =>
      respond(context, sdk, call, async (opened) => {
        const frames = open(opened, call);
        // An error before the first response has a status of its own.
        const first = await frames.next();
        return eventResponse(context, call, { events: toEvents(first, frames), stop: opened.stop });
      });
  /** The last segment of a path is the id of a task with an action: `{id}:cancel`. */
  const taskAction = async (call: Call): Promise<Response> => {
    const [, id = '', action = ''] = /^(.*):(\w+)$/s.exec(call.params('task')) ?? [];
    if (action === 'cancel') return answer(async ({ service }) => service.tasks.cancel(id))(call);
    if (action === 'subscribe')
      return stream(({ service, lastEventId }) => service.tasks.subscribe(id, lastEventId))(call);
    throw notFound('action', call.params('task'));
  };
  const base = '/a2a/{agent_id}/v1' as const;
  const routes = [
    defineRoute(`POST ${base}/message:send: Send a message (A2A)`, {
      body: anyBody,
      response: anyResponse,
      run: answer(async ({ service }, { body }) => ({
        task: await service.tasks.send(normalize(sdk, body)),
      })),
    }),
    defineRoute(`POST ${base}/message:stream: Send a message and stream its task (A2A)`, {
      body: anyBody,
      response: anyResponse,
      streams: true,
      run: stream(({ service, lastEventId }, { body }) =>
        service.tasks.stream(normalize(sdk, body), lastEventId),
      ),
    }),
    defineRoute(`GET ${base}/tasks: List tasks (A2A)`, {
      query: v.object({
        contextId: optionalText,
        status: optionalText,
        pageSize: optionalText,
        pageToken: optionalText,
        historyLength: optionalText,
        statusTimestampAfter: optionalText,
        includeArtifacts: optionalText,
        tenant: optionalText,
      }),
      response: anyResponse,
      run: async (call) =>
        answer(async ({ service }) => service.list(toListQuery(call.query)))(call),
    }),
    defineRoute(`GET ${base}/tasks/{task}: Read or subscribe to a task (A2A)`, {
      query: v.object({ historyLength: optionalText, tenant: optionalText }),
      response: anyResponse,
      streams: true,
      run: async (call) => {
        const task = call.params('task');
        if (task.endsWith(':subscribe')) return taskAction(call);
        return answer(async ({ service }) =>
          service.tasks.get(task, { historyLength: parseLength(call.query.historyLength) }),
        )(call);
      },
    }),
    defineRoute(`POST ${base}/tasks/{task}: Cancel or subscribe to a task (A2A)`, {
      body: anyBody,
      response: anyResponse,
      streams: true,
      run: taskAction,
    }),
    defineRoute(`POST ${base}/tasks/{task}/pushNotificationConfigs: Push a task's progress (A2A)`, {
      body: anyBody,
      response: anyResponse,
      creates: true,
      run: answer(
        async ({ service }, { body, params }) => service.savePush(params('task'), toJson(body)),
        201,
      ),
    }),
    defineRoute(
      `GET ${base}/tasks/{task}/pushNotificationConfigs: List push configurations (A2A)`,
      {
        query: v.object({ pageSize: optionalText, pageToken: optionalText, tenant: optionalText }),
        response: anyResponse,
        run: answer(async ({ service }, { params }) => service.listPushes(params('task'))),
      },
    ),
    defineRoute(
      `GET ${base}/tasks/{task}/pushNotificationConfigs/{config}: Read a push configuration (A2A)`,
      {
        query: v.object({ tenant: optionalText }),
        response: anyResponse,
        run: answer(async ({ service }, { params }) =>
          service.getPush(params('task'), params('config')),
        ),
      },
    ),
    defineRoute(
      `DELETE ${base}/tasks/{task}/pushNotificationConfigs/{config}: Remove a push configuration (A2A)`,
      {
        query: v.object({ tenant: optionalText }),
        response: anyResponse,
        run: answer(async ({ service }, { params }) => {
          await service.removePush(params('task'), params('config'));
          return undefined;
        }),
      },
    ),
    defineRoute(`GET ${base}/extendedAgentCard: Read the extended card of an agent (A2A)`, {
      query: v.object({ tenant: optionalText }),
      response: anyResponse,
      run: answer(async ({ service }) => service.card({ isExtended: true })),
    }),
  ];
  return routes.map((route) => ({ ...route, toErrorBody: toStatusBody }));
}

/** Checks the version, and sends the errors of the service in the form of the protocol. */
async function respond(
  context: ServerContext,
  sdk: A2aSdk,
  call: Call,
  run: (opened: A2aCall) => Promise<Response>,
): Promise<Response> {
  const opened = openCall(context, call);
  const errors = new ErrorTranslator(sdk);
  const card = sdk.core.AgentCard.fromJSON(await opened.service.card());
  try {
    sdk.server.validateVersion(opened.version, card, 'HTTP+JSON');
    return await errors.translate(async () => run(opened));
  } catch (error) {
    opened.stop();
    if (errors.failure !== undefined) throw errors.failure;
    const status = sdk.errors.restStatusFor(error);
    return Response.json(sdk.errors.toRestErrorBody(error, status), {
      status,
      headers: { 'content-type': CONTENT_TYPE },
    });
  }
}

async function* toEvents(
  first: IteratorResult<IdentifiedFrame<JsonObject>, void>,
  frames: Frames,
): AsyncGenerator<StreamEvent, void, undefined> {
  try {
    for (let next = first; next.done !== true; next = await frames.next())
      yield { id: next.value.id, data: next.value.frame };
  } finally {
    await frames.return();
  }
}

/** A request in its JSON form with the names that the SDK writes: clients may write them in snake case. */
function normalize(sdk: A2aSdk, body: unknown): JsonObject {
  const { SendMessageRequest: request } = sdk.core;
  return toJson(request.toJSON(request.fromJSON(body)));
}

function toListQuery(query: ListTasksQuery): ListTasksQuery {
  return query.contextId === '' ? { ...query, contextId: undefined } : query;
}

function parseLength(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new HttpError(400, 'historyLength: must be an integer of at least 0.');
}

function toJson(value: unknown): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON body, or what toJSON of a message returns
  return value as JsonObject;
}

/** The error of a request that no operation saw, as `google.rpc.Status`. */
function toStatusBody({ status, message }: HttpError): JsonObject {
  return {
    error: { code: status, status: STATUS_NAMES[status] ?? 'UNKNOWN', message, details: [] },
  };
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
