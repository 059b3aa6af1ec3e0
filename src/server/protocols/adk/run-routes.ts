import * as v from 'valibot';
import { InvalidInputError } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { HttpError, notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { readLog } from '../../events/session-log.ts';
import { findRun } from '../find-run.ts';
import { runResponse } from '../run-response.ts';
import type { Frame, FrameMapping } from '../run-response.ts';
import { sendInputs } from '../send-inputs.ts';
import { readRun } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import type { SessionUpdate } from '../session-update.ts';
import { listApps } from './adk-app.ts';
import { findAdkSession, toEventContext } from './adk-session.ts';
import type { AdkSession } from './adk-session.ts';
import { adkRunRequest, readCallNeeds, toAdkInputs } from './run-request.ts';
import type { AdkRunRequest } from './run-request.ts';
import { AdkWireMapper, toCrashQuestion, toPartialEvent } from './to-adk-wire-events.ts';
import type { AdkEventContext } from './to-adk-wire-events.ts';

type RunCall = RouteCall<unknown, AdkRunRequest>;

const event = v.looseObject({ id: v.string(), author: v.string() });

export function adkRunRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute('POST /run: Run an agent (ADK)', {
      body: adkRunRequest,
      response: v.array(event),
      run: async (call) => {
        const { run, map } = await open(context, call, { isStream: false });
        const events: JsonObject[] = [];
        const signal = AbortSignal.any([call.request.signal, context.closing]);
        let isEnded = false;
        for await (const { update } of readRun(context, run, { signal })) {
          events.push(...map(update));
          isEnded = update.type === 'run.ended';
        }
        if (isEnded) return Response.json(events);
        throw new HttpError(503, 'The server is shutting down. Read the session.', {
          retryAfterSeconds: 1,
        });
      },
    }),
    defineRoute('POST /run_sse: Run an agent, and stream its events (ADK)', {
      body: adkRunRequest,
      response: event,
      streams: true,
      run: async (call) => {
        const isStream = call.body.streaming === true;
        const { run, map } = await open(context, call, { isStream });
        const frames: FrameMapping = (update) => map(update).map((data): Frame => ({ data }));
        // Clients parse a whole frame as data, so the id is a frame of its own.
        const encode = ({ data }: Frame, id: string): string =>
          `id: ${id}\n\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
        return runResponse(context, call, run, { map: frames, encode });
      },
    }),
    defineRoute('GET /run_live: Open a live session, over a WebSocket (ADK)', {
      query: v.looseObject({}),
      response: v.object({}),
      run: async () => {
        throw new HttpError(
          501,
          'run_live is a WebSocket, of a server with the option live (petrichor serve --live). Without it, send messages with /run_sse.',
        );
      },
    }),
  ];
}

async function open(
  context: ServerContext,
  { body, caller, idempotentRequest }: RunCall,
  { isStream }: { readonly isStream: boolean },
): Promise<{
  readonly run: SessionRun;
  readonly map: (update: SessionUpdate) => readonly JsonObject[];
}> {
  const app = body.appName ?? (await findOnlyApp(context, caller.workspace));
  const { userId: user, sessionId } = body;
  const adk = await findAdkSession(context, caller, { app, user, session: sessionId });
  const run = await openRun(context, { body, caller, idempotentRequest }, adk);
  const eventContext = toEventContext(adk);
  const mapper = new AdkWireMapper(eventContext);
  // Calls of the turn whose answers begin the run.
  if (run.turnFrom < run.from)
    for await (const event of readLog(context, run.session, run.turnFrom)) {
      if (event.seq > run.from) break;
      mapper.add(event);
    }
  const now = (): number => context.clock.now();
  const map = toEventMapping(eventContext, { isStream, now, mapper });
  return { run, map };
}

async function openRun(
  context: ServerContext,
  { body, caller, idempotentRequest }: Pick<RunCall, 'body' | 'caller' | 'idempotentRequest'>,
  { session }: AdkSession,
): Promise<SessionRun> {
  const needs = await readCallNeeds(context, session);
  const inputs = toAdkInputs(body, idempotentRequest.key, needs);
  const [first, ...rest] = inputs;
  if (first !== undefined) return sendInputs(context, caller, session, [first, ...rest]);
  const { invocationId } = body;
  if (invocationId == null)
    throw new InvalidInputError(
      'newMessage',
      'is missing. Send a message, or the invocationId of a run to read again.',
    );
  const run = await findRun(context, session, invocationId);
  if (run === undefined) throw notFound('invocation', invocationId);
  return run;
}

async function findOnlyApp(context: ServerContext, workspace: string): Promise<string> {
  const [app, ...others] = await listApps(context, workspace);
  if (app !== undefined && others.length === 0) return app.name;
  throw new InvalidInputError('appName', 'is missing. GET /list-apps lists the apps.');
}

function toEventMapping(
  context: AdkEventContext,
  {
    isStream,
    now,
    mapper,
  }: {
    readonly isStream: boolean;
    readonly now: () => number;
    readonly mapper: AdkWireMapper;
  },
): (update: SessionUpdate) => readonly JsonObject[] {
  return (update) => {
    switch (update.type) {
      case 'text.delta':
        return isStream ? [toPartialEvent(update, now())] : [];
      case 'run.ended': {
        const { invocationId, outcome, waits } = update;
        if (outcome === 'closed') return [{ error: 'The session was closed.' }];
        return waits
          .filter(({ reason }) => reason === 'crash')
          .map((call) => toCrashQuestion(call, { invocationId, at: now() }, context));
      }
      case 'text.start':
      case 'text.end':
      case 'text.dropped':
      case 'run.started':
      case 'tool.progress':
      // The client has its own message.
      case 'user.message':
        return [];
      default:
        return mapper.add(update);
    }
  };
}
