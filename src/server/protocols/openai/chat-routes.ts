import * as v from 'valibot';
import { InvalidInputError } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { isQuotaRefusal } from '../../../agents/internal.ts';
import { HttpError } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { appendHistory } from '../append-history.ts';
import { runResponse } from '../run-response.ts';
import { sendInputs } from '../send-inputs.ts';
import { readRun } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import { chatRequest, toChatItems } from './chat-request.ts';
import type { CompletionRequest } from './chat-request.ts';
import { parseClientTool, splitItems, toHistory, toInputs } from './conversation-input.ts';
import { chooseSession, toSessionAnswers } from './find-agent-session.ts';
import { toChatChunks, toChatEnd, toChatError, toChatUsage, toHeader } from './to-chat-chunks.ts';
import type { CompletionFacts } from './to-chat-chunks.ts';

/**
 * Chat Completions: a request continues the session of `metadata.session_id`, or that of the calls which it answers.
 * Otherwise it starts a session with its messages.
 */
export function chatRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute('POST /openai/v1/chat/completions: Create a chat completion (OpenAI)', {
      body: chatRequest,
      response: v.looseObject({ id: v.string(), object: v.string() }),
      streams: true,
      run: async (call) => complete(context, call),
    }),
  ];
}

async function complete(
  context: ServerContext,
  call: RouteCall<unknown, CompletionRequest>,
): Promise<Response> {
  const { body, caller, idempotentRequest } = call;
  const { key } = idempotentRequest;
  const { answers: clientAnswers, message, earlier } = splitItems(toChatItems(body));
  const { session_id: sessionId, ...metadata } = body.metadata ?? {};
  if (sessionId !== undefined && (typeof sessionId !== 'string' || sessionId === ''))
    throw new InvalidInputError('metadata.session_id', 'must be the id of a session.');
  const { session, isNew } = await chooseSession(context, caller, {
    model: body.model,
    conversation: sessionId,
    previousResponse: undefined,
    answers: clientAnswers,
    key,
  });
  const answers = toSessionAnswers(session, clientAnswers);
  const clientTools = body.tools?.map((tool, index) =>
    parseClientTool(tool['type'], tool['function'], `tools[${index}].function`),
  );
  const [first, ...rest] = toInputs(answers, message, { messageId: key, clientTools, metadata });
  if (first === undefined)
    throw new InvalidInputError(
      'messages',
      'has nothing new: its last message is not of the user, and is no result of a call.',
    );
  if (isNew) await appendHistory(context, session, toHistory(earlier, session.agentId), key);
  const run = await sendInputs(context, caller, session, [first, ...rest]);
  const facts: CompletionFacts = {
    id: `chatcmpl-${key}`,
    model: session.agentId,
    sessionId: session.id,
    created: Math.floor(context.clock.now() / 1000),
  };
  if (body.stream !== true) return readCompletion(context, call, run, facts);
  const map = toChatChunks(facts, { hasUsage: body.stream_options?.include_usage === true });
  return runResponse(context, call, run, { map });
}

async function readCompletion(
  context: ServerContext,
  { request }: RouteCall<unknown, CompletionRequest>,
  run: SessionRun,
  facts: CompletionFacts,
): Promise<Response> {
  const signal = AbortSignal.any([request.signal, context.closing]);
  let text = '';
  for await (const { update } of readRun(context, run, { signal })) {
    if (update.type === 'text.delta' && update.kind === 'text') text += update.text;
    if (update.type !== 'run.ended') continue;
    const { note, toolCalls, finishReason, error } = toChatEnd(update, facts);
    if (error !== undefined)
      // The turn is in the log: a client must not repeat it by itself.
      return Response.json(
        { error: toChatError(error) },
        {
          status: isQuotaRefusal(error.code ?? '') ? 429 : 502,
          headers: { 'x-should-retry': 'false' },
        },
      );
    const content = text + note;
    const message: JsonObject = {
      role: 'assistant',
      content: content === '' ? null : content,
      refusal: null,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    return Response.json({
      ...toHeader(facts, 'chat.completion'),
      choices: [{ index: 0, message, finish_reason: finishReason, logprobs: null }],
      ...(update.usage !== undefined && { usage: toChatUsage(update.usage) }),
    });
  }
  throw new HttpError(503, 'The server is shutting down. Send the request again.', {
    retryAfterSeconds: 1,
  });
}
