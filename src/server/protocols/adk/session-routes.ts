import * as v from 'valibot';
import { fromAdkContent, toStoredRole } from '../../../adk/internal.ts';
import { isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { parseContent } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { toSessionRef } from '../../events/session-log.ts';
import { HttpError } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import { appendHistory, waitForHistory } from '../append-history.ts';
import type { HistoryEntry } from '../append-history.ts';
import { findCallerSession } from '../caller-session.ts';
import { adkBody } from './adk-body.ts';
import { findApp } from './adk-app.ts';
import { findAdkSession, isOfUser, toSummary, toWireAdkSession, USER_KEY } from './adk-session.ts';
import type { AdkSessionName } from './adk-session.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

const sessionResponse = v.looseObject({ id: v.string(), appName: v.string(), userId: v.string() });

const newSession = adkBody(
  v.looseObject({
    sessionId: v.nullish(nonEmptyText(256)),
    state: v.nullish(anyObject),
    events: v.nullish(v.array(anyObject)),
  }),
);

type NewSession = v.InferOutput<typeof newSession>;

const SESSIONS = '/apps/{app}/users/{user}/sessions';
const SESSION = `${SESSIONS}/{session_id}` as const;

/** The sessions of ADK: a session of ours whose user is in its metadata. */
export function adkSessionRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime } = context;
  return [
    defineRoute(`POST ${SESSIONS}: Start a session (ADK)`, {
      body: newSession,
      response: sessionResponse,
      creates: true,
      run: async (call) => create(context, call, call.body, call.body.sessionId ?? undefined),
    }),
    defineRoute(`GET ${SESSIONS}: List the sessions of a user (ADK)`, {
      response: v.array(sessionResponse),
      run: async ({ caller, params }) => {
        const app = await findApp(context, caller.workspace, params('app'));
        const user = params('user');
        const sessions: JsonObject[] = [];
        for (let after: string | undefined; ;) {
          const page = await runtime.listSessions({
            agentId: app.agent.id,
            userId: caller.workspace,
            includeArchived: false,
            limit: 200,
            ...omitUndefined({ after }),
          });
          for (const session of page.data)
            if (isOfUser(session, user)) sessions.push(toSummary({ app, user, session }));
          if (page.next === undefined) return Response.json(sessions);
          after = page.next;
        }
      },
    }),
    // The older form: the body is the state.
    defineRoute(`POST ${SESSION}: Start a session with an id (ADK)`, {
      body: anyObject,
      response: sessionResponse,
      creates: true,
      run: async (call) => {
        const { body } = call;
        const { state } = body;
        const isWrapped = Object.keys(body).length === 1 && isJsonObject(state);
        const ownState = isWrapped ? state : body;
        return create(context, call, { state: ownState }, call.params('session_id'));
      },
    }),
    defineRoute(`GET ${SESSION}: Read a session with its events (ADK)`, {
      response: sessionResponse,
      run: async (call) =>
        Response.json(
          await toWireAdkSession(context, await findAdkSession(context, call.caller, toName(call))),
        ),
    }),
    defineRoute(`PATCH ${SESSION}: Change the state of a session (ADK)`, {
      body: adkBody(v.looseObject({ stateDelta: anyObject })),
      response: sessionResponse,
      run: async (call) => {
        const found = await findAdkSession(context, call.caller, toName(call));
        const { stateDelta } = call.body;
        const entry = { author: 'user', stateDelta };
        await append(context, call, found.session, [entry]);
        return Response.json(
          await toWireAdkSession(context, await findAdkSession(context, call.caller, toName(call))),
        );
      },
    }),
    defineRoute(`DELETE ${SESSION}: Remove a session and its data (ADK)`, {
      response: v.null(),
      run: async (call) => {
        const { session } = await findAdkSession(context, call.caller, toName(call));
        const { workspace } = call.caller;
        await runtime.deleteSession(toSessionRef(session));
        await context.sessions.remove(workspace, session.id);
        await context.webhookOutbox.publish(workspace, session.id, 'session.deleted');
        return null;
      },
    }),
  ];
}

export function toName({ params }: Pick<RouteCall<unknown, unknown>, 'params'>): AdkSessionName {
  return { app: params('app'), user: params('user'), session: params('session_id') };
}

async function create(
  context: ServerContext,
  call: RouteCall<unknown, unknown>,
  { state, events }: NewSession,
  chosenId: string | undefined,
): Promise<Response> {
  const { caller, params, idempotentRequest } = call;
  const { key } = idempotentRequest;
  const app = await findApp(context, caller.workspace, params('app'));
  const user = params('user');
  const id = chosenId ?? key;
  const known = await findCallerSession(context, caller, id);
  if (known !== undefined && (await idempotentRequest.findResult()) === undefined)
    throw new HttpError(409, `Session already exists: ${id}`);
  const entries: readonly HistoryEntry[] = [
    ...(state != null && Object.keys(state).length > 0
      ? [{ author: 'user', stateDelta: state }]
      : []),
    ...(events ?? []).map((event, index) => toEntry(event, `events[${index}]`)),
  ];
  await idempotentRequest.save(id);
  const { agent } = app;
  const session = await context.runtime.startSession(
    { id: agent.id, version: agent.version },
    { userId: caller.workspace },
    { id, metadata: { [USER_KEY]: user } },
  );
  await append(context, call, session, entries);
  return Response.json(
    await toWireAdkSession(
      context,
      await findAdkSession(context, caller, { app: app.name, user, session: id }),
    ),
  );
}

/** Appends entries, and waits until a reader of the session sees them. */
async function append(
  context: ServerContext,
  {
    idempotentRequest,
    request,
  }: Pick<RouteCall<unknown, unknown>, 'idempotentRequest' | 'request'>,
  session: ManagedSession,
  entries: readonly HistoryEntry[],
): Promise<void> {
  const ids = await appendHistory(context, session, entries, idempotentRequest.key);
  const signal = AbortSignal.any([request.signal, context.closing]);
  await waitForHistory(context, session, ids, signal);
}

/** An event that is imported: its author, its content and its change of state. */
function toEntry(event: JsonObject, field: string): HistoryEntry {
  const { author = 'user', content, actions } = event;
  const change = isJsonObject(actions) ? (actions['stateDelta'] ?? actions['state_delta']) : {};
  const stateDelta = isJsonObject(change) && Object.keys(change).length > 0 ? change : undefined;
  const isEmpty = content === undefined && stateDelta === undefined;
  return {
    author: typeof author === 'string' ? author : 'user',
    ...omitUndefined({
      content:
        content === undefined
          ? undefined
          : parseContent(toStoredRole(fromAdkContent(content, `${field}.content`))),
      stateDelta: isEmpty ? {} : stateDelta,
    }),
  };
}
