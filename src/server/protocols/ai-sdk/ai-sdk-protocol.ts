import * as v from 'valibot';
import { InvalidInputError } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import { notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession, openCallerSession } from '../caller-session.ts';
import { findOpenRun, findRun } from '../find-run.ts';
import type { Protocol } from '../protocol.ts';
import { runResponse } from '../run-response.ts';
import { sendInputs } from '../send-inputs.ts';
import { toOpenCall } from '../session-run.ts';
import { chatRequest, toInputs } from './chat-request.ts';
import type { ChatRequest } from './chat-request.ts';
import { toUiMessageChunks } from './to-ui-message-chunks.ts';

const HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

const chunk = v.looseObject({ type: v.string() });

/** The UI message stream of the AI SDK: a chat is a session, and its id is that of the session. */
export const aiSdkProtocol: Protocol = {
  name: 'ai-sdk',
  routes: (context) => [
    defineRoute('POST /ai-sdk/{agent_id}: Send to a chat (AI SDK)', {
      body: chatRequest,
      response: chunk,
      streams: true,
      run: async (call) => chat(context, call),
    }),
    defineRoute('GET /ai-sdk/{agent_id}/{session_id}/stream: Read the running turn of a chat', {
      response: chunk,
      streams: true,
      run: async (call) => {
        const session = await findCallerSession(context, call.caller, call.params('session_id'));
        const isOwn = session?.agentId === call.params('agent_id');
        const open =
          session === undefined || !isOwn ? undefined : await findOpenRun(context, session);
        // A client asks for every chat that it shows, also for one that was never sent.
        if (session === undefined || open === undefined) return new Response(null, { status: 204 });
        const [invocationId = ''] = open.invocationIds;
        const run = (await findRun(context, session, invocationId)) ?? open;
        const map = toUiMessageChunks(new Set());
        return runResponse(context, call, run, { map, headers: HEADERS });
      },
    }),
    defineRoute('POST /ai-sdk/{agent_id}/{session_id}/stop: Stop the running turn of a chat', {
      response: v.object({ id: v.string() }),
      run: async ({ caller, params }) => {
        const id = params('session_id');
        const session = await findCallerSession(context, caller, id);
        if (session === undefined || session.agentId !== params('agent_id'))
          throw notFound('chat', id);
        await context.runtime.interrupt(toSessionRef(session));
        return { id };
      },
    }),
  ],
};

async function chat(
  context: ServerContext,
  call: RouteCall<unknown, ChatRequest>,
): Promise<Response> {
  const { body, caller, params } = call;
  if (body.trigger === 'regenerate-message')
    throw new InvalidInputError(
      'trigger',
      'regenerate-message is not supported: the log of a session keeps its answers. Send a message.',
    );
  const agentId = params('agent_id');
  const session = await openCallerSession(context, caller, { id: body.id, agentId });
  const open = (await context.runtime.pending(toSessionRef(session))).map(toOpenCall);
  const answeredBefore = await listAnswers(context, session);
  const inputs = toInputs(
    body,
    (callId, needs) =>
      open.some((one) => one.callId === callId && one.needs === needs) ||
      answeredBefore.get(callId) === needs,
  );
  const [first, ...rest] = inputs.filter(
    (input) =>
      // A message of the assistant keeps the answers of earlier requests.
      input.type === 'message' ||
      !inputs.some((one) => one.type !== 'message' && !answeredBefore.has(one.callId)) ||
      !answeredBefore.has(input.callId),
  );
  if (first === undefined)
    throw new InvalidInputError(
      'messages',
      'has nothing new: its last message is not from the user, and answers no call that waits.',
    );
  const run = await sendInputs(context, caller, session, [first, ...rest]);
  const results = [first, ...rest].flatMap((one) => (one.type === 'result' ? [one.callId] : []));
  const map = toUiMessageChunks(new Set(results));
  return runResponse(context, call, run, { map, headers: HEADERS });
}

/** The calls that clients have answered: with an approval or a denial, or with a result. */
async function listAnswers(
  context: ServerContext,
  session: ManagedSession,
): Promise<ReadonlyMap<string, 'approval' | 'result'>> {
  const answers = new Map<string, 'approval' | 'result'>();
  for await (const event of readLog(context, session, Math.max(0, session.lastSeq - 500)))
    if (event.type === 'tool.answered')
      answers.set(event.callId, event.decision === 'answered' ? 'result' : 'approval');
  return answers;
}
