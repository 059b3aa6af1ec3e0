import * as v from 'valibot';
import type { AgentCard } from '@a2a-js/sdk';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { HttpError } from '../../http/http-error.ts';
import { listCodeAgentIds } from '../../routes/workspace-agents.ts';
import { defineRoute } from '../../routing/route.ts';
import type { RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { Protocol } from '../protocol.ts';
import { openCall, VERSION } from './a2a-call.ts';
import { a2aPushFormat } from './a2a-push.ts';
import { loadA2aSdk } from './a2a-sdk.ts';
import type { A2aSdk } from './a2a-sdk.ts';
import { ErrorTranslator } from './error-translator.ts';
import { jsonRpcRoute } from './json-rpc-route.ts';
import { restRoutes } from './rest-routes.ts';
import { SdkAdapter } from './sdk-adapter.ts';

const card = v.looseObject({});

/**
 * A2A 1.0, over JSON-RPC and over HTTP+JSON, and A2A 0.3 over both: a context is a session, and a task is a turn.
 * Loads the official SDK.
 */
export async function openA2aProtocol(): Promise<Protocol> {
  const sdk = await loadA2aSdk();
  return {
    name: 'a2a',
    pushFormat: a2aPushFormat,
    routes: (context) => [
      defineRoute('GET /.well-known/agent-card.json: Read the card of the only agent (A2A)', {
        response: card,
        run: async (call) => readOnlyCard(context, sdk, call),
      }),
      defineRoute('GET /a2a/{agent_id}/.well-known/agent-card.json: Read an agent card (A2A)', {
        response: card,
        run: async (call) => readCard(context, sdk, call),
      }),
      jsonRpcRoute(context, sdk),
      ...restRoutes(context, sdk),
    ],
  };
}

/** Clients of A2A 0.3 send no version. Their form of the card also has the interfaces of 1.0. */
async function readCard(
  context: ServerContext,
  sdk: A2aSdk,
  call: RouteCall<unknown, unknown>,
): Promise<JsonObject> {
  const { service, version } = openCall(context, call);
  const current = await service.card();
  if (version === VERSION) return current;
  const adapter = new PublicCardAdapter(sdk, service, {
    lastEventId: null,
    errors: new ErrorTranslator(sdk),
  });
  const transport = new sdk.legacy.LegacyJsonRpcTransportHandler(adapter);
  const request = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const answer = await transport.handle(request, new sdk.server.ServerCallContext());
  const legacy: unknown = 'result' in answer ? answer.result : undefined;
  if (!isJsonObject(legacy)) throw new Error('The SDK translated no card.');
  return { ...legacy, supportedInterfaces: current['supportedInterfaces'] ?? [] };
}

/** The SDK translates cards of 0.3 only as extended ones. */
class PublicCardAdapter extends SdkAdapter {
  override async getAuthenticatedExtendedAgentCard(): Promise<AgentCard> {
    return this.getAgentCard();
  }
}

async function readOnlyCard(
  context: ServerContext,
  sdk: A2aSdk,
  call: RouteCall<unknown, unknown>,
): Promise<JsonObject> {
  const { runtime, agents } = context;
  const isActive = async (id: string): Promise<boolean> =>
    (await runtime.getAgent(id)).archivedAt === undefined;
  const { data } = await agents.list(
    call.caller.workspace,
    { limit: 2 },
    async ({ id }) => ((await isActive(id)) ? id : undefined),
    listCodeAgentIds(runtime),
  );
  const [agentId] = data;
  if (agentId === undefined || data.length > 1)
    throw new HttpError(
      404,
      'This server has no agent, or several. The card of each is at /a2a/{agent_id}/.well-known/agent-card.json.',
    );
  return readCard(context, sdk, { ...call, params: () => agentId });
}
