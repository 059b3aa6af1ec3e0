import * as v from 'valibot';
import type { JsonObject } from '../../../core/index.ts';
import { HttpError, notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { IdentifiedFrame } from '../run-response.ts';
import { eventResponse, LEGACY_VERSION, openCall } from './a2a-call.ts';
import type { A2aCall, StreamEvent } from './a2a-call.ts';
import type { A2aSdk } from './a2a-sdk.ts';
import { ErrorTranslator } from './error-translator.ts';
import {
  fromLegacyPush,
  fromLegacySend,
  toLegacyCard,
  toLegacyPush,
  toLegacyStreamResponse,
  toLegacyTask,
} from './legacy-json.ts';
import type { ListTasksQuery } from './list-tasks.ts';

const CONTENT_TYPE = 'application/a2a+json';

const anyBody = v.looseObject({});
const anyResponse = v.looseObject({});
const optionalText = v.optional(v.pipe(v.string(), v.maxLength(4096)));

type Call = RouteCall<unknown, Readonly<Record<string, unknown>>>;
type Frames = AsyncGenerator<IdentifiedFrame<JsonObject>, void, undefined>;

/** HTTP+JSON of A2A 1.0, and of 0.3 for a request without a version. Both have the same paths. */
export function restRoutes(context: ServerContext, sdk: A2aSdk): readonly HttpRoute[] {
  const answer =
    (read: (opened: A2aCall, call: Call) => Promise<JsonObject | undefined>, status = 200) =>
    async (call: Call): Promise<Response> =>
      respond(context, sdk, call, async (opened) => {
        const body = await read(opened, call);
        if (body === undefined) return new Response(null, { status: 204 });
        return Response.json(body, { status, headers: { 'content-type': toContentType(opened) } });
      });
  const stream =
    (open: (opened: A2aCall, call: Call) => Frames) =>
    async (call: Call): Promise<Response> =>
      respond(context, sdk, call, async (opened) => {
        const frames = open(opened, call);
        // An error before the first response has a status of its own.
        const first = await frames.next();
        const events = toEvents(
          first,
          frames,
          isLegacy(opened) ? toLegacyStreamResponse : undefined,
        );
        return eventResponse(context, call, { events, stop: opened.stop });
      });
  /** The last segment of a path is the id of a task with an action: `{id}:cancel`. */
  const taskAction = async (call: Call): Promise<Response> => {
    const [, id = '', action = ''] = /^(.*):(\w+)$/s.exec(call.params('task')) ?? [];
    if (action === 'cancel')
      return answer(async (opened) => toTask(opened, await opened.service.tasks.cancel(id)))(call);
    if (action === 'subscribe')
      return stream(({ service, lastEventId }) => service.tasks.subscribe(id, lastEventId))(call);
    throw notFound('action', call.params('task'));
  };
  const base = '/a2a/{agent_id}/v1' as const;
  const routes = [
    defineRoute(`POST ${base}/message:send: Send a message (A2A)`, {
      body: anyBody,
      response: anyResponse,
      run: answer(async (opened, { body }) => ({
        task: toTask(opened, await opened.service.tasks.send(toSend(sdk, opened, body))),
      })),
    }),
    defineRoute(`POST ${base}/message:stream: Send a message and stream its task (A2A)`, {
      body: anyBody,
      response: anyResponse,
      streams: true,
      run: stream((opened, { body }) =>
        opened.service.tasks.stream(toSend(sdk, opened, body), opened.lastEventId),
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
        const historyLength = parseLength(call.query.historyLength);
        return answer(async (opened) =>
          toTask(opened, await opened.service.tasks.get(task, { historyLength })),
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
      run: answer(async (opened, { body, params }) => {
        const config = isLegacy(opened) ? fromLegacyPush(toJson(body)) : toJson(body);
        return toPush(opened, await opened.service.savePush(params('task'), config));
      }, 201),
    }),
    defineRoute(
      `GET ${base}/tasks/{task}/pushNotificationConfigs: List push configurations (A2A)`,
      {
        query: v.object({ pageSize: optionalText, pageToken: optionalText, tenant: optionalText }),
        response: anyResponse,
        run: answer(async (opened, { params }) => {
          const { configs } = await opened.service.listPushes(params('task'));
          return { configs: configs.map((config) => toPush(opened, config)) };
        }),
      },
    ),
    defineRoute(
      `GET ${base}/tasks/{task}/pushNotificationConfigs/{config}: Read a push configuration (A2A)`,
      {
        query: v.object({ tenant: optionalText }),
        response: anyResponse,
        run: answer(async (opened, { params }) =>
          toPush(opened, await opened.service.getPush(params('task'), params('config'))),
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
    defineRoute(`GET ${base}/card: Read the extended card of an agent (A2A 0.3)`, {
      query: v.object({ tenant: optionalText }),
      response: anyResponse,
      run: answer(async ({ service }) => toLegacyCard(await service.card({ isExtended: true }))),
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
    const body = isLegacy(opened)
      ? sdk.legacy.toLegacyHTTPError(error)
      : sdk.errors.toRestErrorBody(error, status);
    return Response.json(body, { status, headers: { 'content-type': toContentType(opened) } });
  }
}

async function* toEvents(
  first: IteratorResult<IdentifiedFrame<JsonObject>, void>,
  frames: Frames,
  translate: (frame: JsonObject) => JsonObject = (frame) => frame,
): AsyncGenerator<StreamEvent, void, undefined> {
  try {
    for (let next = first; next.done !== true; next = await frames.next())
      yield { id: next.value.id, data: translate(next.value.frame) };
  } finally {
    await frames.return();
  }
}

function isLegacy({ version }: A2aCall): boolean {
  return version === LEGACY_VERSION;
}

function toContentType(call: A2aCall): string {
  return isLegacy(call) ? 'application/json' : CONTENT_TYPE;
}

function toTask(call: A2aCall, task: JsonObject): JsonObject {
  return isLegacy(call) ? toLegacyTask(task) : task;
}

function toPush(call: A2aCall, config: JsonObject): JsonObject {
  return isLegacy(call) ? toLegacyPush(config) : config;
}

function toSend(sdk: A2aSdk, call: A2aCall, body: unknown): JsonObject {
  return normalize(sdk, isLegacy(call) ? fromLegacySend(toJson(body)) : body);
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
