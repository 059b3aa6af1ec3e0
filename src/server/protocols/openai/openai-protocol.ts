import * as v from 'valibot';
import type { JsonObject } from '../../../core/index.ts';
import type { HttpError } from '../../http/http-error.ts';
import { getWorkspaceAgent, listCodeAgentIds } from '../../routes/workspace-agents.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import type { Protocol } from '../protocol.ts';
import { chatRoutes } from './chat-routes.ts';
import { responsesRoutes } from './responses-routes.ts';

const model = v.object({
  id: v.string(),
  object: v.literal('model'),
  created: v.number(),
  owned_by: v.string(),
});

/** The API of OpenAI: Responses, Chat Completions and models. A model is an agent, a conversation a session. */
export const openAiProtocol: Protocol = {
  name: 'openai',
  toErrorBody,
  routes: (context) => [
    ...responsesRoutes(context),
    ...chatRoutes(context),
    ...modelRoutes(context),
  ],
};

function modelRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, agents } = context;
  const toModel = async (id: string): Promise<v.InferOutput<typeof model>> => {
    const { createdAt } = await runtime.getAgent(id);
    const created = Math.floor(createdAt / 1000);
    return { id, object: 'model', created, owned_by: 'petrichor' };
  };
  return [
    defineRoute('GET /openai/v1/models: List the agents (OpenAI)', {
      response: v.object({ object: v.literal('list'), data: v.array(model) }),
      run: async ({ caller: { workspace } }) => {
        const data: v.InferOutput<typeof model>[] = [];
        for (let page: string | undefined; ;) {
          const listed = await agents.list(
            workspace,
            { limit: 100, page },
            async ({ id }) =>
              (await runtime.getAgent(id)).archivedAt === undefined ? toModel(id) : undefined,
            listCodeAgentIds(runtime),
          );
          data.push(...listed.data);
          if (listed.next === null) return { object: 'list' as const, data };
          page = listed.next;
        }
      },
    }),
    defineRoute('GET /openai/v1/models/{agent_id}: Read an agent (OpenAI)', {
      response: model,
      run: async ({ caller: { workspace }, params }) =>
        toModel((await getWorkspaceAgent(context, workspace, params('agent_id'))).id),
    }),
  ];
}

function toErrorBody({ message, type, details }: HttpError): JsonObject {
  return { error: { message, type, param: null, code: details?.['error_code'] ?? null } };
}
