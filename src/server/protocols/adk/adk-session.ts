import { toAdkSeconds } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import { notFound } from '../../http/http-error.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession } from '../caller-session.ts';
import { readState } from '../read-state.ts';
import { toOpenCall } from '../session-run.ts';
import { findApp } from './adk-app.ts';
import type { AdkApp } from './adk-app.ts';
import { AdkWireMapper, toCrashQuestion } from './to-adk-wire-events.ts';
import type { AdkEventContext } from './to-adk-wire-events.ts';

/** The metadata of a session that names its user in ADK. A session of another protocol has none, and every user sees it. */
export const USER_KEY = 'adk_user_id';

/** A session, as a URL names it. */
export interface AdkSessionName {
  readonly app: string;
  readonly user: string;
  readonly session: string;
}

/** A session of a user, with its app. */
export interface AdkSession {
  readonly app: AdkApp;
  readonly user: string;
  readonly session: ManagedSession;
}

/** @throws HttpError 404, also for a session of another app, user or workspace */
export async function findAdkSession(
  context: ServerContext,
  caller: Caller,
  { app: appName, user, session: id }: AdkSessionName,
): Promise<AdkSession> {
  const app = await findApp(context, caller.workspace, appName);
  const session = await findCallerSession(context, caller, id);
  if (session === undefined || session.agentId !== app.agent.id || !isOfUser(session, user))
    throw notFound('session', id);
  return { app, user, session };
}

export function isOfUser({ metadata }: ManagedSession, user: string): boolean {
  const owner = metadata?.[USER_KEY];
  return owner === undefined || owner === user;
}

export function toEventContext({ app, session }: AdkSession): AdkEventContext {
  const { agent, name } = app;
  const agentName = agent.source === 'code' ? agent.description.name : name;
  return { sessionId: session.id, sessionUid: session.uid, agentName };
}

/** The session with its state and its events. */
export async function toWireAdkSession(
  context: ServerContext,
  adk: AdkSession,
): Promise<JsonObject> {
  const { session } = adk;
  const events: JsonObject[] = [];
  const eventContext = toEventContext(adk);
  const mapper = new AdkWireMapper(eventContext);
  for await (const event of readLog(context, session, 0)) events.push(...mapper.add(event));
  for (const call of await context.runtime.pending(toSessionRef(session)))
    if (call.reason === 'crash') {
      const { invocationId } = call;
      events.push(
        toCrashQuestion(toOpenCall(call), { invocationId, at: session.updatedAt }, eventContext),
      );
    }
  return { ...toSummary(adk), state: await readState(context, session), events };
}

/** A session of a list: without its events. */
export function toSummary({ app, user, session }: AdkSession): JsonObject {
  return {
    id: session.id,
    appName: app.name,
    userId: user,
    state: {},
    events: [],
    lastUpdateTime: toAdkSeconds(session.updatedAt),
  };
}
