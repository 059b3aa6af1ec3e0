import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { checkCallerModel, parseModelRef } from '../models/index.ts';
import { AgentVersionConflictError, parseAgentDef } from '../managed/index.ts';
import type { ManagedAgent } from '../managed/index.ts';
import { agentCreate, agentUpdate } from './agent-schemas.ts';
import type { AgentCreate, AgentUpdate } from './agent-schemas.ts';
import {
  calledAgents,
  changedDefinition,
  modelRefOf,
  toDefinition,
  toWireAgent,
} from './agent-view.ts';
import { defineRoute } from './route.ts';
import type { Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { notFound } from './wire-error.ts';
import { count, createdAt, flag, isWithin, paging } from './wire-schemas.ts';

/** Agents: definitions, every version of each. */
export function agentRoutes(parts: ServerParts): readonly Route[] {
  const { runtime, agents, attempts, newId } = parts;
  return [
    defineRoute('POST /v1/agents: Create an agent', {
      body: agentCreate,
      creates: true,
      run: async ({ caller: { workspace }, body, attempt }) => {
        await mayCall(parts, workspace, body);
        mayAsk(parts, body);
        const definition = parseAgentDef(toDefinition(body));
        const id = await attempts.idFor(workspace, attempt, newId('agent'));
        const agent = await runtime.create(definition, { id });
        await agents.put(workspace, agent.id, agent.createdAt);
        return toWireAgent(agent);
      },
    }),
    defineRoute('GET /v1/agents: List agents, newest first', {
      query: v.object({ ...paging, ...createdAt, include_archived: v.optional(flag) }),
      run: async ({ caller: { workspace }, query }) => {
        const page = await agents.list(workspace, query, async ({ id }) => {
          const agent = await runtime.getAgent(id);
          const isShown = agent.archivedAt === undefined || query.include_archived === true;
          return isShown && isWithin(agent.createdAt, query) ? toWireAgent(agent) : undefined;
        });
        return { data: page.data, next_page: page.next };
      },
    }),
    defineRoute('GET /v1/agents/{agent_id}: Read an agent', {
      query: v.object({ version: v.optional(count(1, 1_000_000_000)) }),
      run: async ({ caller: { workspace }, params, query: { version } }) =>
        toWireAgent(await agentOf(parts, workspace, params('agent_id'), version)),
    }),
    defineRoute('POST /v1/agents/{agent_id}: Change an agent: one more version', {
      body: agentUpdate,
      run: async ({ caller: { workspace }, params, body, repeats }) => {
        const present = await agentOf(parts, workspace, params('agent_id'));
        await mayCall(parts, workspace, body);
        mayAsk(parts, body);
        const version = body.version ?? present.version;
        const definition = changedDefinition(present, body);
        try {
          return toWireAgent(await runtime.updateAgent(present.id, definition, { version }));
        } catch (error) {
          const isDone =
            error instanceof AgentVersionConflictError &&
            repeats > 0 &&
            present.version === version + 1 &&
            isDeepStrictEqual(present.definition, parseAgentDef(definition));
          // Its first reply was lost, and it is what made that version.
          if (!isDone) throw error;
          return toWireAgent(present);
        }
      },
    }),
    defineRoute('POST /v1/agents/{agent_id}/archive: Make an agent read-only for ever', {
      run: async ({ caller: { workspace }, params }) => {
        const { id } = await agentOf(parts, workspace, params('agent_id'));
        return toWireAgent(await runtime.archiveAgent(id));
      },
    }),
    defineRoute('GET /v1/agents/{agent_id}/versions: List the versions of an agent, newest first', {
      query: v.object(paging),
      run: async ({ caller: { workspace }, params, query: { limit, page } }) => {
        const { id } = await agentOf(parts, workspace, params('agent_id'));
        const { data, next } = await runtime.agentVersions(id, {
          ...(limit !== undefined && { limit }),
          ...(page !== undefined && { after: page }),
        });
        return { data: data.map(toWireAgent), next_page: next ?? null };
      },
    }),
  ];
}

/** Who is called is of the same workspace. @throws WireError 404 */
async function mayCall(
  parts: ServerParts,
  workspace: string,
  { multiagent }: Pick<AgentCreate, 'multiagent'>,
): Promise<void> {
  if (multiagent == null) return;
  for (const { agent_id } of calledAgents(multiagent)) await agentOf(parts, workspace, agent_id);
}

/** The model is at an origin that the operator lists. @throws InvalidInputError for `model` or `model.base_url` */
function mayAsk({ modelOrigins }: ServerParts, { model }: Pick<AgentUpdate, 'model'>): void {
  if (model !== undefined) checkCallerModel(parseModelRef(modelRefOf(model)), modelOrigins);
}

/** An agent of the caller's workspace. @throws WireError 404 */
export async function agentOf(
  { runtime, agents }: ServerParts,
  workspace: string,
  id: string,
  version?: number,
): Promise<ManagedAgent> {
  if ((await agents.get(workspace, id)) === undefined) throw notFound('agent', id);
  return runtime.getAgent(id, version === undefined ? {} : { version });
}
