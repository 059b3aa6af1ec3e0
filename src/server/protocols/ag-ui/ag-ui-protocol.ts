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
import { findMessageRun } from '../find-run.ts';
import type { Protocol } from '../protocol.ts';
import { readState } from '../read-state.ts';
import { runResponse } from '../run-response.ts';
import { sendInputs } from '../send-inputs.ts';
import { toOpenCall } from '../session-run.ts';
import { runInput, toInputs } from './run-input.ts';
import type { RunInput } from './run-input.ts';
import { toAgUiFrames } from './to-ag-ui-frames.ts';

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
  const map = toAgUiFrames({ threadId, runId, state, answered, messages: undefined });
  return runResponse(context, call, run, { map });
}

/**
 * Streams the run of the client's last message again, for a client that lost its connection and has a part of it. The
 * client's messages are first reset to those before the run.
 */
async function replay(
  context: ServerContext,
  call: RouteCall<unknown, RunInput>,
  session: ManagedSession,
): Promise<Response> {
  const { threadId, runId, messages } = call.body;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[last];
  if (message === undefined)
    throw new InvalidInputError('messages', 'has no message of the user. Send one.');
  const run = await findMessageRun(context, session, message.id);
  if (run === undefined)
    throw new InvalidInputError(
      'messages',
      'has nothing new: the last message is not from the user, and its run is unknown here.',
    );
  const before = messages.slice(0, last + 1);
  const state = await mergeState(context, session, call.body);
  const map = toAgUiFrames({ threadId, runId, state, answered: new Set(), messages: before });
  return runResponse(context, call, run, { map });
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
