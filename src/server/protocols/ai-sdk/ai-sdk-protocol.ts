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
import type { ClientInput } from '../send-inputs.ts';
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
  const { body, caller, params, idempotentRequest } = call;
  const agentId = params('agent_id');
  const session = await openCallerSession(context, caller, { id: body.id, agentId });
  const open = (await context.runtime.pending(toSessionRef(session))).map(toOpenCall);
  const { answers: answeredBefore, lastMessage } = await readRecent(context, session);
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
  const isRegenerated = body.trigger === 'regenerate-message';
  const input = isRegenerated
    ? await regenerate(context, session, { input: first, lastMessage, key: idempotentRequest.key })
    : toLatest(first, lastMessage);
  const run = await sendInputs(context, caller, session, [input, ...rest]);
  const results = [first, ...rest].flatMap((one) => (one.type === 'result' ? [one.callId] : []));
  const map = toUiMessageChunks(new Set(results));
  return runResponse(context, call, run, { map, headers: HEADERS });
}

/** The last message of a session's log. */
interface LastMessage {
  readonly messageId: string;
  readonly invocationId: string;
  /** True: the conversation was taken back to before it. */
  isRewound: boolean;
}

/** The calls that clients have answered recently, and the last message. */
async function readRecent(
  context: ServerContext,
  session: ManagedSession,
): Promise<{
  readonly answers: ReadonlyMap<string, 'approval' | 'result'>;
  readonly lastMessage: LastMessage | undefined;
}> {
  const answers = new Map<string, 'approval' | 'result'>();
  let lastMessage: LastMessage | undefined;
  for await (const event of readLog(context, session, Math.max(0, session.lastSeq - 500)))
    if (event.type === 'tool.answered')
      answers.set(event.callId, event.decision === 'answered' ? 'result' : 'approval');
    else if (event.type === 'user.message') {
      const { messageId, invocationId } = event;
      lastMessage = { messageId, invocationId, isRewound: false };
    } else if (
      event.type === 'session.rewound' &&
      lastMessage?.invocationId === event.beforeInvocationId
    )
      lastMessage.isRewound = true;
  return { answers, lastMessage };
}

/**
 * Takes the session back to before its last message, and returns that message under another id, the same for each
 * repetition of the request.
 * @throws InvalidInputError for another message, and while a turn runs or waits
 */
async function regenerate(
  context: ServerContext,
  session: ManagedSession,
  {
    input,
    lastMessage,
    key,
  }: {
    readonly input: ClientInput;
    readonly lastMessage: LastMessage | undefined;
    readonly key: string;
  },
): Promise<ClientInput> {
  if (input.type !== 'message' || lastMessage === undefined || !isCopy(lastMessage, input))
    throw new InvalidInputError(
      'messages',
      'must end with the last message of the session: only its answer can be regenerated.',
    );
  const messageId = `${input.messageId}${COPY}${key}`;
  if (lastMessage.messageId === messageId || lastMessage.isRewound) return { ...input, messageId };
  const ref = toSessionRef(session);
  // A rewind waits for the end of a turn, and a turn may wait for a person.
  const status = await context.runtime.status(ref);
  const { length } = await context.runtime.pending(ref);
  if ((status !== 'idle' && status !== 'failed') || length > 0)
    throw new InvalidInputError(
      'trigger',
      `regenerate-message needs a session that is idle; it is ${length > 0 ? 'waiting' : status}. Stop the turn, or answer its calls.`,
    );
  const beforeInvocationId = lastMessage.invocationId;
  await context.runtime.rewind(ref, { beforeInvocationId, dedupeKey: messageId });
  return { ...input, messageId };
}

/** A message whose answer was regenerated is known under its last id. */
function toLatest(input: ClientInput, lastMessage: LastMessage | undefined): ClientInput {
  if (input.type !== 'message' || lastMessage === undefined || !isCopy(lastMessage, input))
    return input;
  return { ...input, messageId: lastMessage.messageId };
}

/** Between the id of a message and the key of the request that regenerates its answer. */
const COPY = '#regenerate-';

function isCopy({ messageId }: LastMessage, input: { readonly messageId: string }): boolean {
  return messageId === input.messageId || messageId.startsWith(`${input.messageId}${COPY}`);
}
