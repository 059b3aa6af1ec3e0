import { omitUndefined } from '../../core/internal.ts';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import {
  AgentFromCodeError,
  AgentVersionConflictError,
  parseAgentDef,
} from '../../managed/index.ts';
import type { IndexEntry } from '../auth/workspace-index.ts';
import { checkCallerModel, parseModelRef } from '../../models/index.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { agentCreate, agentUpdate } from '../wire/agent-schemas.ts';
import type { AgentCreate, AgentUpdate } from '../wire/agent-schemas.ts';
import {
  toCalledAgents,
  applyAgentUpdate,
  toModelRef,
  toAgentDefinition,
} from '../wire/from-wire-agent.ts';
import { agentPage, agentResponse } from '../wire/responses/agent-responses.ts';
import { toWireAgent } from '../wire/to-wire-agent.ts';
import type { Wire } from '../wire/component.ts';
import {
  integerParameter,
  createdAtFilter,
  booleanParameter,
  matchesCreatedAt,
  pagination,
} from '../wire/wire-schemas.ts';
import { getWorkspaceAgent, listCodeAgentIds } from './workspace-agents.ts';

/** Routes for agents and their versions. */
export function agentRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, agents, newId } = context;
  return [
    defineRoute('POST /v1/agents: Create an agent', {
      response: agentResponse,
      body: agentCreate,
      creates: true,
      run: async ({ caller: { workspace }, body, idempotentRequest }) => {
        await assertCalledAgentsExist(context, workspace, body);
        assertModelAllowed(context, body);
        const definition = parseAgentDef(toAgentDefinition(body));
        const id = await idempotentRequest.reserveId(newId('agent'));
        const agent = await runtime.create(definition, { id });
        await agents.put(workspace, agent.id, agent.createdAt);
        return toWireAgent(agent);
      },
    }),
    defineRoute('GET /v1/agents: List agents, newest first', {
      response: agentPage,
      query: v.object({
        ...pagination,
        ...createdAtFilter,
        include_archived: v.optional(booleanParameter),
      }),
      run: async ({ caller: { workspace }, query }) => {
        const toItem = async ({ id }: IndexEntry): Promise<Wire<'Agent'> | undefined> => {
          const agent = await runtime.getAgent(id);
          const isShown = agent.archivedAt === undefined || query.include_archived === true;
          return isShown && matchesCreatedAt(agent.createdAt, query)
            ? toWireAgent(agent)
            : undefined;
        };
        const page = await agents.list(workspace, query, toItem, listCodeAgentIds(runtime));
        return { data: page.data, next_page: page.next };
      },
    }),
    defineRoute('GET /v1/agents/{agent_id}: Read an agent', {
      response: agentResponse,
      query: v.object({ version: v.optional(integerParameter(1, 1_000_000_000)) }),
      run: async ({ caller: { workspace }, params, query: { version } }) =>
        toWireAgent(await getWorkspaceAgent(context, workspace, params('agent_id'), version)),
    }),
    defineRoute('POST /v1/agents/{agent_id}: Change an agent: one more version', {
      response: agentResponse,
      errors: [405],
      body: agentUpdate,
      run: async ({ caller: { workspace }, params, body, retryCount, idempotentRequest }) => {
        const created = await idempotentRequest.findResult();
        if (typeof created === 'number')
          return toWireAgent(
            await getWorkspaceAgent(context, workspace, params('agent_id'), created),
          );
        const present = await getWorkspaceAgent(context, workspace, params('agent_id'));
        if (present.source === 'code') throw new AgentFromCodeError(present.id, 'an update');
        await assertCalledAgentsExist(context, workspace, body);
        assertModelAllowed(context, body);
        const version = body.version ?? present.version;
        const definition = applyAgentUpdate(present, body);
        try {
          const changed = await runtime.updateAgent(present.id, definition, { version });
          await idempotentRequest.save(changed.version);
          return toWireAgent(changed);
        } catch (error) {
          const isRepetition =
            error instanceof AgentVersionConflictError &&
            retryCount > 0 &&
            present.version === version + 1 &&
            isDeepStrictEqual(present.definition, parseAgentDef(definition));
          // The client's first request created this version, and its response was lost.
          if (!isRepetition) throw error;
          return toWireAgent(present);
        }
      },
    }),
    defineRoute('POST /v1/agents/{agent_id}/archive: Make an agent read-only for ever', {
      response: agentResponse,
      errors: [405],
      run: async ({ caller: { workspace }, params }) => {
        const { id } = await getWorkspaceAgent(context, workspace, params('agent_id'));
        return toWireAgent(await runtime.archiveAgent(id));
      },
    }),
    defineRoute('GET /v1/agents/{agent_id}/versions: List the versions of an agent, newest first', {
      response: agentPage,
      query: v.object(pagination),
      run: async ({ caller: { workspace }, params, query: { limit, page } }) => {
        const { id } = await getWorkspaceAgent(context, workspace, params('agent_id'));
        const { data, next } = await runtime.agentVersions(
          id,
          omitUndefined({ limit, after: page }),
        );
        return { data: data.map(toWireAgent), next_page: next ?? null };
      },
    }),
  ];
}

/**
 * Called agents must be in the same workspace.
 * @throws HttpError 404
 */
async function assertCalledAgentsExist(
  context: ServerContext,
  workspace: string,
  { multiagent }: Pick<AgentCreate, 'multiagent'>,
): Promise<void> {
  if (multiagent == null) return;
  for (const { agent_id } of toCalledAgents(multiagent))
    await getWorkspaceAgent(context, workspace, agent_id);
}

/**
 * The model must be at an origin that the operator allows.
 * @throws InvalidInputError for `model` or `model.base_url`
 */
function assertModelAllowed(
  { modelOrigins }: ServerContext,
  { model }: Pick<AgentUpdate, 'model'>,
): void {
  if (model !== undefined) checkCallerModel(parseModelRef(toModelRef(model)), modelOrigins);
}
