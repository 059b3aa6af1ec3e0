import * as v from 'valibot';
import type { Json, JsonObject } from '../../../core/index.ts';
import type { HttpError } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { eventResponse, LEGACY_VERSION, openCall } from './a2a-call.ts';
import type { StreamEvent } from './a2a-call.ts';
import type { A2aSdk } from './a2a-sdk.ts';
import { ErrorTranslator } from './error-translator.ts';
import { SdkAdapter } from './sdk-adapter.ts';

const rpcRequest = v.looseObject({});

/** JSON-RPC of A2A 1.0, and of 0.3 for a request without a version. */
export function jsonRpcRoute(context: ServerContext, sdk: A2aSdk): HttpRoute {
  const route = defineRoute('POST /a2a/{agent_id}: Call an agent (A2A, JSON-RPC)', {
    body: rpcRequest,
    response: v.looseObject({ jsonrpc: v.literal('2.0') }),
    streams: true,
    run: async (call) => handle(context, sdk, call),
  });
  return { ...route, toErrorBody: toRpcErrorBody };
}

async function handle(
  context: ServerContext,
  sdk: A2aSdk,
  call: RouteCall<unknown, Readonly<Record<string, unknown>>>,
): Promise<Response> {
  const { service, version, lastEventId, stop } = openCall(context, call);
  const errors = new ErrorTranslator(sdk);
  const adapter = new SdkAdapter(sdk, service, { lastEventId, errors });
  const isLegacy = version === LEGACY_VERSION;
  const { id = null } = call.body;
  const toFailure = (error: unknown): Response => {
    if (errors.failure !== undefined) throw errors.failure;
    const body = isLegacy
      ? sdk.legacy.LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
      : sdk.errors.toJsonRpcError(error);
    return Response.json({ jsonrpc: '2.0', id, error: body });
  };
  // An unknown agent is a 404 of HTTP: no agent has this address.
  const card = sdk.core.AgentCard.fromJSON(await service.card());
  try {
    sdk.server.validateVersion(version, card, 'JSONRPC');
    const transport = isLegacy
      ? new sdk.legacy.LegacyJsonRpcTransportHandler(adapter)
      : new sdk.server.JsonRpcTransportHandler(adapter);
    const callContext = new sdk.server.ServerCallContext({ requestedVersion: version });
    const answer = await transport.handle({ ...call.body }, callContext);
    if (errors.failure !== undefined) throw errors.failure;
    if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
    const responses: AsyncGenerator<object, void, undefined> = answer;
    // An error before the first response is a response of its own.
    const first = await responses.next();
    const events = toEvents(first, responses, adapter);
    return eventResponse(context, call, { events, stop });
  } catch (error) {
    stop();
    return toFailure(error);
  }
}

async function* toEvents(
  first: IteratorResult<object, void>,
  responses: AsyncGenerator<object, void, undefined>,
  adapter: SdkAdapter,
): AsyncGenerator<StreamEvent, void, undefined> {
  try {
    for (let next = first; next.done !== true; next = await responses.next())
      yield { id: adapter.frameId, data: toJson(next.value) };
  } finally {
    await responses.return();
  }
}

function toJson(response: object): JsonObject {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON-RPC response of the SDK
  return response as JsonObject;
}

/** The error of a request that no method saw. */
function toRpcErrorBody({ status, message, details }: HttpError): JsonObject {
  const code: Json =
    details?.['error_code'] === 'invalid_json' ? -32700 : status >= 500 ? -32603 : -32600;
  return { jsonrpc: '2.0', id: null, error: { code, message } };
}
