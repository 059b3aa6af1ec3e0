import * as v from 'valibot';
import { InvalidInputError } from '../../core/index.ts';
import { GraphvizMissingError } from '../../net/index.ts';
import type { LayoutEngine, NetDescription, SessionInspection } from '../../runtime/index.ts';
import { describeNet } from '../../runtime/internal.ts';
import { toSessionRef } from '../events/session-log.ts';
import { journalFileResponse } from '../events/journal-file.ts';
import { streamRecords } from '../events/stream-records.ts';
import { notFound } from '../http/http-error.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute, RouteCall } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import type { Wire } from '../wire/component.ts';
import {
  forkPointPage,
  sessionMarking,
  sessionModelRequest,
  sessionNet,
  sessionRecordPage,
  streamedRecord,
} from '../wire/responses/inspection-responses.ts';
import {
  toWireForkPoint,
  toWireMarking,
  toWireModelRequest,
  toWireNet,
  toWireRecord,
} from '../wire/to-wire-inspection.ts';
import { integerParameter, pagination } from '../wire/wire-schemas.ts';
import { getWorkspaceSession } from './session-lookup.ts';
import { toWireSession } from './to-wire-session.ts';
import { getWorkspaceAgent } from './workspace-agents.ts';

const DEFAULT_LIMIT = 100;
/** A page ends before `limit` when its JSON is longer than this. */
const MAX_PAGE_CHARACTERS = 4_000_000;

const NUMBER = /^\d{1,15}$/;

const layout = v.optional(v.picklist(['columns', 'graphviz'], 'must be columns or graphviz'));
const number = v.optional(integerParameter(0, Number.MAX_SAFE_INTEGER));
const values = v.optional(v.picklist(['none', 'shape', 'full'], 'must be none, shape or full'));

/** Routes that extend the protocol: what a session did, record by record. */
export function inspectionRoutes(context: ServerContext): readonly HttpRoute[] {
  const inspect = async (
    call: Pick<RouteCall<unknown, unknown>, 'caller' | 'params'>,
  ): Promise<{ readonly id: string; readonly inspection: SessionInspection }> => {
    const session = await getWorkspaceSession(context, call);
    return { id: session.id, inspection: await context.runtime.inspect(toSessionRef(session)) };
  };
  return [
    defineRoute('GET /v1/sessions/{session_id}/records: List the journal records of a session', {
      response: sessionRecordPage,
      query: v.object({ ...pagination, after: number, values }),
      run: async (call) => {
        const { query } = call;
        const { id, inspection } = await inspect(call);
        const after = parsePage(query.page) ?? query.after ?? 0;
        return listRecords(inspection, id, { after, limit: query.limit, values: query.values });
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/records/stream: Journal records as they are made', {
      response: streamedRecord,
      query: v.object({ after: number, values }),
      streams: true,
      run: async (call) => {
        const { id, inspection } = await inspect(call);
        return streamRecords(context, inspection, id, call);
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/marking: The tokens of a session after a record', {
      response: sessionMarking,
      query: v.object({ at: number, values }),
      run: async (call) => {
        const { at, values: detail = 'none' } = call.query;
        const { id, inspection } = await inspect(call);
        return toWireMarking(await inspection.markingAt(at, { values: detail }), id);
      },
    }),
    defineRoute("GET /v1/sessions/{session_id}/net: The net of a session's agent", {
      response: sessionNet,
      query: v.object({ layout }),
      run: async (call) => {
        const { inspection } = await inspect(call);
        return describeWithLayout(async (engine) => inspection.net({ layout: engine }), call.query);
      },
    }),
    defineRoute('GET /v1/agents/{agent_id}/net: The net of an agent', {
      response: sessionNet,
      query: v.object({ version: v.optional(integerParameter(1, 1_000_000_000)), layout }),
      run: async ({ caller: { workspace }, params, query }) => {
        const { id, version } = await getWorkspaceAgent(
          context,
          workspace,
          params('agent_id'),
          query.version,
        );
        const agent = await context.runtime.loadAgent(id, { version });
        return describeWithLayout(
          async (engine) => describeNet(agent.compiled, agent.net, { layout: engine }),
          query,
        );
      },
    }),
    defineRoute('GET /v1/sessions/{session_id}/journal: The journal of a session as a file', {
      response: v.string(),
      query: v.object({ redact: v.optional(v.picklist(['0', '1'], 'must be 0 or 1')) }),
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        return journalFileResponse(
          {
            context,
            session,
            wireSession: await toWireSession(context, session),
            inspection: await context.runtime.inspect(toSessionRef(session)),
            isRedacted: call.query.redact === '1',
            artifacts: context.runtime.runtime.artifacts,
          },
          call.destroyConnection,
        );
      },
    }),
    defineRoute(
      'GET /v1/sessions/{session_id}/firings/{firing}/request: The request of a model call',
      {
        response: sessionModelRequest,
        run: async (call) => {
          // The session first: whether it exists is not shown to other workspaces.
          const { inspection } = await inspect(call);
          const firing = call.params('firing');
          if (!NUMBER.test(firing)) throw notFound('firing', firing);
          return toWireModelRequest(await inspection.modelRequest(Number(firing)));
        },
      },
    ),
    defineRoute(
      'GET /v1/sessions/{session_id}/fork_points: List the positions at which fork may cut',
      {
        response: forkPointPage,
        query: v.object({ ...pagination, after: number }),
        run: async (call) => {
          const { limit = DEFAULT_LIMIT, page, after } = call.query;
          const { inspection } = await inspect(call);
          const data: Wire<'ForkPoint'>[] = [];
          for await (const point of inspection.forkPoints(parsePage(page) ?? after)) {
            const last = data.at(-1);
            if (data.length === limit && last !== undefined)
              return { data, next_page: String(last.up_to_seq) };
            data.push(toWireForkPoint(point));
          }
          return { data, next_page: null };
        },
      },
    ),
  ];
}

/** Without the package that draws, the answer is the layout that needs none. */
async function describeWithLayout(
  describe: (layout: LayoutEngine) => Promise<NetDescription>,
  query: { readonly layout?: LayoutEngine | undefined },
): Promise<Wire<'SessionNet'>> {
  try {
    return toWireNet(await describe(query.layout ?? 'columns'));
  } catch (error) {
    if (error instanceof GraphvizMissingError) return toWireNet(await describe('columns'));
    throw error;
  }
}

async function listRecords(
  inspection: SessionInspection,
  sessionId: string,
  {
    after,
    limit = DEFAULT_LIMIT,
    values: detail = 'none',
  }: {
    readonly after: number;
    readonly limit: number | undefined;
    readonly values: 'none' | 'shape' | 'full' | undefined;
  },
): Promise<Wire<'SessionRecordPage'>> {
  const data: Wire<'SessionRecord'>[] = [];
  let characters = 0;
  for await (const record of inspection.records(after, { values: detail, limit: limit + 1 })) {
    const last = data.at(-1);
    if (last !== undefined && (data.length === limit || characters > MAX_PAGE_CHARACTERS))
      return { data, next_page: String(last.record) };
    const wire = toWireRecord(record, sessionId);
    characters += detail === 'none' ? 0 : JSON.stringify(wire).length;
    data.push(wire);
  }
  return { data, next_page: null };
}

/** The cursor of a page is the last number of the page before. @throws InvalidInputError */
function parsePage(page: string | undefined): number | undefined {
  if (page === undefined) return undefined;
  if (NUMBER.test(page)) return Number(page);
  throw new InvalidInputError('page', 'must be a whole number of at least 0.');
}
