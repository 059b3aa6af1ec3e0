import * as v from 'valibot';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { AgentDescription } from '../../../agents/index.ts';
import { toDot } from '../../../net/index.ts';
import { toSessionRef } from '../../events/session-log.ts';
import { HttpError } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession } from '../caller-session.ts';
import { findApp, loadAppAgent } from './adk-app.ts';
import { parseAdkEventId } from './adk-event-id.ts';
import { findAdkSession } from './adk-session.ts';
import { readEventSpan, readSpans } from './adk-traces.ts';
import { toName } from './session-routes.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');
const DEV = '/dev/apps/{app}';

type Call = Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>;

/** What ADK's web interface reads: graphs from the net of an agent, traces from the log, and lists that are empty here. */
export function devRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute(`GET ${DEV}/build_graph: Describe the agents of an app (ADK)`, {
      response: anyObject,
      run: async ({ caller, params }) => {
        const app = await findApp(context, caller.workspace, params('app'));
        const { description } = await loadAppAgent(context, app);
        return { name: app.name, root_agent: toBuildNode(description) };
      },
    }),
    defineRoute(`GET ${DEV}/build_graph_image: Draw the agents of an app, and its net (ADK)`, {
      query: v.looseObject({}),
      response: anyObject,
      run: async ({ caller, params }) => {
        const app = await findApp(context, caller.workspace, params('app'));
        const { agent, description } = await loadAppAgent(context, app);
        // The interface marks the node of an event's agent or tool, by name.
        const dotSrc = drawAgents(description);
        return { dotSrc, '': { dotSrc }, net: { dotSrc: toDot(agent.compiled) } };
      },
    }),
    defineRoute(
      `GET ${DEV}/users/{user}/sessions/{session_id}/events/{event_id}/graph: Draw the net at an event (ADK)`,
      {
        query: v.looseObject({}),
        response: anyObject,
        run: async (call) => drawEvent(context, call),
      },
    ),
    defineRoute(`GET ${DEV}/debug/trace/session/{session_id}: Read the spans of a session (ADK)`, {
      response: v.array(anyObject),
      run: async ({ caller, params }) => {
        const app = await findApp(context, caller.workspace, params('app'));
        const session = await findCallerSession(context, caller, params('session_id'));
        const isOwn = session !== undefined && session.agentId === app.agent.id;
        return Response.json(isOwn ? await readSpans(context, session) : []);
      },
    }),
    defineRoute(`GET ${DEV}/debug/trace/{event_id}: Read the span of an event (ADK)`, {
      response: anyObject,
      run: async ({ caller, params }) => {
        const app = await findApp(context, caller.workspace, params('app'));
        const id = params('event_id');
        const { sessionId, seq } = parseAdkEventId(id) ?? {};
        const session =
          sessionId === undefined ? undefined : await findCallerSession(context, caller, sessionId);
        const isOwn = session !== undefined && session.agentId === app.agent.id;
        const span =
          isOwn && seq !== undefined ? await readEventSpan(context, session, seq) : undefined;
        if (span === undefined) throw new HttpError(404, 'Trace not found');
        return span;
      },
    }),
    ...emptyLists(context),
  ];
}

/** The net of a session as it was at an event: its tokens, and the effects that ran. */
async function drawEvent(context: ServerContext, call: Call): Promise<JsonObject> {
  const { app, session } = await findAdkSession(context, call.caller, toName(call));
  const { sessionId, seq } = parseAdkEventId(call.params('event_id')) ?? {};
  if (seq === undefined || sessionId !== session.id || seq > session.lastSeq) return {};
  const { agent } = await loadAppAgent(context, app);
  const inspection = await context.runtime.inspect(toSessionRef(session));
  let record = 0;
  let step = 0;
  for await (const point of inspection.forkPoints(seq - 1)) {
    ({ record, step } = point);
    if (point.upTo >= seq) break;
  }
  const marking = await inspection.markingAt(record, { values: 'none' });
  const fired: string[] = [];
  for await (const one of inspection.records(0, { values: 'none' })) {
    if (one.record > record) break;
    if (one.step === step && one.transition !== undefined) fired.push(one.transition);
  }
  const running = marking.firings.map(({ transition }) => transition);
  // What fired, and what runs: a net as a whole is too large for a side panel.
  const current = new Set([...fired, ...running]);
  const only = (transition: string): boolean => current.has(transition);
  const places = Object.entries(marking.places).flatMap(([name, { kind }]) =>
    kind === 'tokens' ? [name] : [],
  );
  return { dotSrc: highlight(toDot(agent.compiled, { only }), { places, transitions: running }) };
}

const CURRENT = '[style="filled", fillcolor="#2da44e", fontcolor="#ffffff", penwidth=2]';

function highlight(
  drawing: string,
  {
    places,
    transitions,
  }: { readonly places: readonly string[]; readonly transitions: readonly string[] },
): string {
  const dot = drawing.trimEnd();
  const known = [...places.map((name) => `p:${name}`), ...transitions.map((name) => `t:${name}`)]
    .map((name) => JSON.stringify(name))
    .filter((name) => dot.includes(`${name} [`));
  const lines = [...new Set(known)].map((name) => `  ${name} ${CURRENT}`);
  return `${dot.slice(0, -1)}${lines.join('\n')}\n}\n`;
}

/** The agents and their tools. */
function drawAgents(root: AgentDescription): string {
  const lines = [
    'digraph agents {',
    '  rankdir=LR;',
    '  node [style="filled", fillcolor="#f6f8fa"];',
  ];
  const draw = ({ name, tools, subAgents }: AgentDescription): void => {
    const from = JSON.stringify(name);
    lines.push(`  ${from} [shape=ellipse];`);
    for (const tool of tools) {
      lines.push(`  ${JSON.stringify(tool.name)} [shape=box];`);
      lines.push(`  ${from} -> ${JSON.stringify(tool.name)} [arrowhead=none];`);
    }
    for (const agent of subAgents) {
      draw(agent);
      lines.push(`  ${from} -> ${JSON.stringify(agent.name)};`);
    }
  };
  draw(root);
  return `${lines.join('\n')}\n}\n`;
}

function toBuildNode({
  name,
  description,
  kind,
  models,
  instruction,
  tools,
  subAgents,
}: AgentDescription): JsonObject {
  return {
    name,
    type: kind,
    description,
    tools: tools.map((tool) => tool.name),
    sub_agents: subAgents.map(toBuildNode),
    ...omitUndefined({ instruction, model: models[0] }),
  };
}

/** Evaluations, stored tests and the builder belong to ADK's own server. */
function emptyLists(context: ServerContext): readonly HttpRoute[] {
  const lists: readonly (readonly [string, JsonObject | readonly never[]])[] = [
    ['eval-sets', { evalSetIds: [] }],
    ['eval_sets', []],
    ['eval-results', { evalResultIds: [] }],
    ['eval_results', []],
    ['metrics-info', { metricsInfo: [] }],
    ['tests', []],
  ];
  const refuse = async (): Promise<never> => {
    throw new HttpError(501, 'Evaluations and the builder are not supported here.');
  };
  return [
    ...lists.map(([path, body]) =>
      defineRoute(`GET /dev/apps/{app}/${path}: An empty list (ADK)`, {
        response: v.unknown(),
        run: async ({ caller, params }) => {
          await findApp(context, caller.workspace, params('app'));
          return Response.json(body);
        },
      }),
    ),
    defineRoute('POST /dev/apps/{app}/eval-sets: Refused (ADK)', {
      body: anyObject,
      response: v.unknown(),
      run: refuse,
    }),
    defineRoute('GET /dev/apps/{app}/builder: There is no builder (ADK)', {
      query: v.looseObject({}),
      response: v.string(),
      run: async ({ caller, params }) => {
        await findApp(context, caller.workspace, params('app'));
        return new Response('', { headers: { 'content-type': 'text/plain; charset=utf-8' } });
      },
    }),
  ];
}
