import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { SESSION_WRITE_SCOPES } from '../auth/key-scope.ts';
import type {
  ManagedAgent,
  ManagedAgentDef,
  ManagedSession,
  SessionEnvironment,
} from '../../managed/index.ts';
import { toSessionRef } from '../events/session-log.ts';
import { HttpError } from '../http/http-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { component, field } from '../wire/component.ts';
import { initialEvents, toInitialEvent } from '../wire/event-schemas.ts';
import {
  sessionDeleted,
  sessionPage,
  sessionResponse,
} from '../wire/responses/session-responses.ts';
import {
  mergeMetadata,
  integerParameter,
  createdAtFilter,
  booleanParameter,
  matchesCreatedAt,
  metadata,
  metadataChange,
  nonEmptyText,
  sortOrder,
  pagination,
  text,
  SESSION_STATES,
  unsupported,
} from '../wire/wire-schemas.ts';
import { listSessions } from './list-sessions.ts';
import { getWorkspaceSession } from './session-lookup.ts';
import { getWorkspaceEnvironment, toSessionEnvironment } from './stored-environment.ts';
import { toWireSession, toWireStatus, WIRE_STATUSES } from './to-wire-session.ts';
import { getWorkspaceAgent } from './workspace-agents.ts';

const agentRef = v.union(
  [
    nonEmptyText(256),
    v.object({
      type: v.optional(v.literal('agent')),
      id: nonEmptyText(256),
      version: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      mcp_servers: unsupported,
      model: unsupported,
      skills: unsupported,
      system: unsupported,
      tools: unsupported,
    }),
  ],
  'must be an id, or { type: "agent", id, version }: overrides are not supported, create another version',
);

interface AgentRef {
  readonly id: string;
  readonly version?: number | undefined;
}

const create = component(
  'SessionParams',
  'Options of a new session: its agent, and the environment that its tools run in.',
  v.object({
    agent: agentRef,
    environment_id: v.nullish(nonEmptyText(256)),
    title: v.nullish(text(1024)),
    metadata: v.nullish(metadata),
    initial_events: v.nullish(field('Events that the session starts with.', initialEvents)),
    budget: unsupported,
    resources: unsupported,
    vault_ids: unsupported,
  }),
);

const update = component(
  'SessionChange',
  'Changes to a session. Omitted fields keep their value; a metadata key set to null is removed.',
  v.object({
    title: v.nullish(text(1024)),
    metadata: v.nullish(metadataChange),
    agent: unsupported,
    budget: unsupported,
    vault_ids: unsupported,
  }),
);

const list = v.object({
  ...pagination,
  ...createdAtFilter,
  order: sortOrder,
  agent_id: v.optional(nonEmptyText(256)),
  agent_version: v.optional(integerParameter(1, 1_000_000_000)),
  include_archived: v.optional(booleanParameter),
  statuses: v.optional(
    v.array(v.picklist(WIRE_STATUSES, `must be one of ${WIRE_STATUSES.join(', ')}`)),
  ),
  states: v.optional(
    v.array(v.picklist(SESSION_STATES, `must be one of ${SESSION_STATES.join(', ')}`)),
  ),
  search: v.optional(nonEmptyText(256)),
  deployment_id: unsupported,
  memory_store_id: unsupported,
});

/** Routes that create, read, change and close sessions. */
export function sessionRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, sessions } = context;
  return [
    defineRoute('POST /v1/sessions: Start a session', {
      response: sessionResponse,
      scopes: SESSION_WRITE_SCOPES,
      body: create,
      creates: true,
      run: async ({ caller: { workspace }, body, idempotentRequest }) => {
        const ref: AgentRef = typeof body.agent === 'string' ? { id: body.agent } : body.agent;
        const agent = await getWorkspaceAgent(context, workspace, ref.id, ref.version);
        const environmentId = body.environment_id ?? null;
        const environment = await resolveEnvironment(context, workspace, environmentId, agent);
        const events = (body.initial_events ?? []).map(toInitialEvent);
        const needsWorker = environment.selfHosted === true && events.length > 0;
        const session = await runtime.startSession(
          { id: agent.id, version: agent.version },
          { userId: workspace },
          {
            environment,
            dedupeKey: idempotentRequest.key,
            ...omitUndefined({
              title: body.title != null ? body.title : undefined,
              metadata: body.metadata != null ? body.metadata : undefined,
            }),
            events,
            documents: (id) => [
              sessions.insertion(workspace, id, { environmentId }),
              ...(needsWorker && environmentId !== null
                ? [context.work.insertion(environmentId, id)]
                : []),
            ],
          },
        );
        await context.webhookOutbox.publish(workspace, session.id, 'session.created');
        return toWireSession(context, await runtime.getSession(toSessionRef(session)));
      },
    }),
    defineRoute('GET /v1/sessions: List sessions', {
      response: sessionPage,
      query: list,
      run: async ({ caller: { workspace }, query }) => {
        const { agent_id, agent_version, statuses, states, search, include_archived } = query;
        const hasArchived = include_archived === true || states?.includes('archived') === true;
        const page = await listSessions(context, workspace, query, async (session) => {
          if (!matchesCreatedAt(session.createdAt, query)) return undefined;
          if (agent_id !== undefined && session.agentId !== agent_id) return undefined;
          if (agent_version !== undefined && session.agentVersion !== agent_version)
            return undefined;
          const status = toWireStatus(session.status);
          if (statuses !== undefined && !statuses.includes(status)) return undefined;
          if (states !== undefined && !states.includes(session.sessionStatus)) return undefined;
          if (session.status === 'archived' && !hasArchived) return undefined;
          if (search !== undefined && !matchesText(session, search)) return undefined;
          return toWireSession(context, session);
        });
        return { data: page.data, next_page: page.next, prev_page: page.previous };
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}: Read a session', {
      response: sessionResponse,
      scopes: ['full', 'read', 'console', 'session'],
      run: async (call) => toWireSession(context, await getWorkspaceSession(context, call)),
    }),
    defineRoute('POST /v1/sessions/{session_id}: Change title and metadata of a session', {
      response: sessionResponse,
      scopes: SESSION_WRITE_SCOPES,
      body: update,
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        const { title, metadata: pairs } = call.body;
        const change = omitUndefined({
          title: title === undefined ? undefined : (title ?? ''),
          metadata: pairs != null ? mergeMetadata(session.metadata ?? {}, pairs) : undefined,
        });
        await call.idempotentRequest.runOnce(async () => {
          await runtime.updateSession(toSessionRef(session), change);
        });
        return toWireSession(context, await runtime.getSession(toSessionRef(session)));
      },
    }),
    defineRoute('POST /v1/sessions/{session_id}/archive: Close a session for ever', {
      response: sessionResponse,
      scopes: SESSION_WRITE_SCOPES,
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        if (session.status !== 'archived') await runtime.archive(toSessionRef(session));
        return toWireSession(context, await runtime.getSession(toSessionRef(session)));
      },
    }),
    defineRoute('DELETE /v1/sessions/{session_id}: Remove a session and its data', {
      response: sessionDeleted,
      scopes: SESSION_WRITE_SCOPES,
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        const { id } = session;
        await runtime.deleteSession(toSessionRef(session));
        await sessions.remove(call.caller.workspace, id);
        await context.webhookOutbox.publish(call.caller.workspace, id, 'session.deleted');
        return { id, type: 'session_deleted' };
      },
    }),
  ];
}

/** True if the id or the title has the text, in any case of letters. */
function matchesText({ id, title = '' }: ManagedSession, text: string): boolean {
  return [id, title].some((one) => one.toLowerCase().includes(text.toLowerCase()));
}

async function resolveEnvironment(
  context: ServerContext,
  workspace: string,
  id: string | null,
  agent: ManagedAgent,
): Promise<SessionEnvironment> {
  if (id === null) return {};
  const environment = await getWorkspaceEnvironment(context, workspace, id);
  if (environment.archivedAt !== undefined)
    throw new HttpError(400, `environment_id: environment "${id}" is archived. Use another one.`);
  if (agent.source === 'code') {
    // Clients of the protocol must name an environment. Another one than a self-hosted one changes nothing.
    if (environment.config !== 'self_hosted') return {};
    throw new HttpError(
      400,
      `environment_id: is self-hosted, but the tools of agent "${agent.id}" run in the program that defines it. Omit the field, or use another environment.`,
    );
  }
  const { definition } = agent;
  if (environment.config === 'self_hosted')
    for (const { agent_id: called, version = 1 } of definition.agents ?? []) {
      const calledAgent = await context.runtime.getAgent(called, { version });
      // A worker receives only the calls of the session itself, so it would never run these.
      if (calledAgent.source === 'definition' && hasBuiltIns(calledAgent.definition))
        throw new HttpError(
          400,
          `environment_id: is self-hosted, where the tools of the called agent "${called}" cannot run. Use another environment.`,
        );
    }
  return toSessionEnvironment(environment, hasBuiltIns(definition));
}

function hasBuiltIns({ tools = [] }: ManagedAgentDef): boolean {
  return tools.some(({ type }) => type !== 'custom');
}
