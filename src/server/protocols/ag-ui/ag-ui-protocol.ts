import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import { notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession, openCallerSession } from '../caller-session.ts';
import { findLastRun, findMessageRun } from '../find-run.ts';
import type { Protocol } from '../protocol.ts';
import { readState } from '../read-state.ts';
import { runResponse } from '../run-response.ts';
import type { Frame } from '../run-response.ts';
import { sendInputs } from '../send-inputs.ts';
import { SessionFold } from '../session-fold.ts';
import { isOwnEvent, toOpenCall } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import type { SessionUpdate } from '../session-update.ts';
import { AgUiMapping } from './ag-ui-mapping.ts';
import type { AgUiRun } from './ag-ui-mapping.ts';
import { runInput, toInputs } from './run-input.ts';
import type { RunInput } from './run-input.ts';

/** AG-UI 1.0: a thread is a session, and a run is the part of its log that answers the request. */
export const agUiProtocol: Protocol = {
  name: 'ag-ui',
  routes: (context) => [
    defineRoute('POST /ag-ui/{agent_id}: Run an agent (AG-UI)', {
      body: runInput,
      response: v.looseObject({ type: v.string() }),
      streams: true,
      run: async (call) => runAgent(context, call),
    }),
    defineRoute('POST /ag-ui/{agent_id}/threads/{session_id}/cancel: Stop the run of a thread', {
      response: v.object({ threadId: v.string() }),
      run: async ({ caller, params }) => {
        const threadId = params('session_id');
        const session = await findCallerSession(context, caller, threadId);
        if (session === undefined || session.agentId !== params('agent_id'))
          throw notFound('thread', threadId);
        await context.runtime.interrupt(toSessionRef(session));
        return { threadId };
      },
    }),
  ],
};

async function runAgent(
  context: ServerContext,
  call: RouteCall<unknown, RunInput>,
): Promise<Response> {
  const { body, caller, params } = call;
  const { threadId, runId } = body;
  const session = await openCallerSession(context, caller, {
    id: threadId,
    agentId: params('agent_id'),
  });
  const open = (await context.runtime.pending(toSessionRef(session))).map(toOpenCall);
  const answeredBefore = await listAnsweredCalls(context, session, body);
  const [first, ...rest] = toInputs(
    body,
    open,
    (callId) =>
      answeredBefore.has(callId) ||
      open.some((one) => one.callId === callId && one.needs === 'result'),
  );
  if (first === undefined) return replay(context, call, session);
  const state = await mergeState(context, session, body);
  const run = await sendInputs(context, caller, session, [first, ...rest]);
  const answered = new Set(
    [first, ...rest].flatMap((input) => (input.type === 'result' ? [input.callId] : [])),
  );
  return respond(context, call, run, {
    threadId,
    runId,
    state,
    answered,
    messages: body.messages,
    isReplay: false,
  });
}

/**
 * Streams the run of the client's last message again, for a client that lost its connection and has a part of it; for a
 * client without messages, the last run of the thread. The client's messages are first reset to those before the run.
 */
async function replay(
  context: ServerContext,
  call: RouteCall<unknown, RunInput>,
  session: ManagedSession,
): Promise<Response> {
  const { threadId, runId, messages } = call.body;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[last];
  const run =
    message === undefined
      ? await findLastRun(context, session)
      : await findMessageRun(context, session, message.id);
  if (run === undefined)
    throw new InvalidInputError(
      'messages',
      message === undefined
        ? 'has no message of the user, and the thread has none. Send one.'
        : 'has nothing new: the last message is not from the user, and its run is unknown here.',
    );
  return respond(context, call, run, {
    threadId,
    runId,
    state: await mergeState(context, session, call.body),
    answered: new Set(),
    messages: messages.slice(0, last + 1),
    isReplay: true,
  });
}

/** Streams a run, after the conversation before it was read. */
async function respond(
  context: ServerContext,
  call: RouteCall<unknown, RunInput>,
  run: SessionRun,
  shown: AgUiRun,
): Promise<Response> {
  const mapping = new AgUiMapping(shown);
  const fold = new SessionFold();
  let waitsAfter = 0;
  for await (const event of readLog(context, run.session, 0)) {
    if (event.seq <= run.from) for (const { update } of fold.add(event)) mapping.map(update);
    else if (!shown.isReplay) break;
    else if (!isOwnEvent(event, run.invocationIds)) continue;
    else if (event.type === 'user.message') mapping.map(event);
    // The waits before it were answered.
    else if (event.type === 'turn.resumed') waitsAfter = event.seq;
  }
  const map = (update: SessionUpdate): readonly Frame[] =>
    mapping.map(update).map((data) => ({ data }));
  return runResponse(context, call, { ...run, ...(shown.isReplay && { waitsAfter }) }, { map });
}

/** The state of the client, with that of the session in it: a client keeps what only it has. */
async function mergeState(
  context: ServerContext,
  session: ManagedSession,
  { state }: RunInput,
): Promise<JsonObject> {
  return { ...(isJsonObject(state) ? state : {}), ...(await readState(context, session)) };
}

/** The calls of the request's tool messages that clients have answered before. */
async function listAnsweredCalls(
  context: ServerContext,
  session: ManagedSession,
  { messages }: RunInput,
): Promise<ReadonlySet<string>> {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const asked = new Set(messages.slice(last + 1).flatMap(({ toolCallId }) => toolCallId ?? []));
  const answered = new Set<string>();
  if (asked.size === 0) return answered;
  for await (const event of readLog(context, session, 0))
    if (event.type === 'tool.answered' && event.decision === 'answered' && asked.has(event.callId))
      answered.add(event.callId);
  return answered;
}
