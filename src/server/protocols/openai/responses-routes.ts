import * as v from 'valibot';
import { InvalidInputError } from '../../../core/index.ts';
import type { JsonObject } from '../../../core/index.ts';
import { frameStream } from '../../events/frame-stream.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import { notFound } from '../../http/http-error.ts';
import { defineRoute } from '../../routing/route.ts';
import type { HttpRoute, RouteCall } from '../../routing/route.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { booleanParameter, integerParameter } from '../../wire/wire-schemas.ts';
import { appendHistory } from '../append-history.ts';
import { findCallerSession } from '../caller-session.ts';
import { findOpenRun } from '../find-run.ts';
import { sendInputs } from '../send-inputs.ts';
import { readRun } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import { parseClientTool, splitItems, toHistory, toInputs } from './conversation-input.ts';
import { chooseSession, findResponse, toSessionAnswers } from './find-agent-session.ts';
import { cutEvent, ResponseFold } from './response-fold.ts';
import type { KnownCall } from './response-fold.ts';
import { formatResponseId } from './response-id.ts';
import { responsesRequest, toItems } from './responses-request.ts';
import type { ResponsesRequest } from './responses-request.ts';

type Call<B = unknown> = RouteCall<unknown, B>;

const response = v.looseObject({ id: v.string(), object: v.literal('response') });
const conversation = v.looseObject({ id: v.string(), object: v.literal('conversation') });

/** The Responses API: a response is the part of a session's log that answers a request. */
export function responsesRoutes(context: ServerContext): readonly HttpRoute[] {
  return [
    defineRoute('POST /openai/v1/responses: Create a response (OpenAI)', {
      body: responsesRequest,
      response,
      streams: true,
      run: async (call) => create(context, call),
    }),
    defineRoute('GET /openai/v1/responses/{response_id}: Read a response, or its stream', {
      // Clients ask for parts that responses always have.
      query: v.looseObject({
        stream: v.optional(booleanParameter),
        starting_after: v.optional(integerParameter(0, Number.MAX_SAFE_INTEGER)),
      }),
      response,
      streams: true,
      run: async (call) => {
        const id = call.params('response_id');
        const { run, ref } = await findResponse(context, call.caller, id);
        const fold = await openFold(context, run, { id: formatResponseId(ref) });
        const { stream, starting_after: after } = call.query;
        return stream === true
          ? streamResponse(context, call, { run, fold, after })
          : readResponse(context, call, { run, fold, follow: false });
      },
    }),
    defineRoute('POST /openai/v1/responses/{response_id}/cancel: Stop a response', {
      response,
      run: async (call) => {
        const id = call.params('response_id');
        const { session, run, ref } = await findResponse(context, call.caller, id);
        const open = await findOpenRun(context, session);
        const invocationId = open?.invocationIds.find((one) => run.invocationIds.includes(one));
        const isOpen = invocationId !== undefined;
        if (isOpen) await context.runtime.interrupt(toSessionRef(session), { invocationId });
        const fold = await openFold(context, run, { id: formatResponseId(ref) });
        return readResponse(context, call, { run, fold, follow: isOpen });
      },
    }),
    defineRoute('POST /openai/v1/conversations: Name a conversation', {
      body: v.looseObject({ items: v.nullish(v.array(v.unknown())) }),
      response: conversation,
      run: async ({ body, idempotentRequest }) => {
        if ((body.items ?? []).length > 0)
          throw new InvalidInputError('items', 'must be empty. Send them as input of a response.');
        const created_at = Math.floor(context.clock.now() / 1000);
        const id = `conv_${idempotentRequest.key}`;
        return { id, object: 'conversation' as const, created_at, metadata: {} };
      },
    }),
    defineRoute('GET /openai/v1/conversations/{session_id}: Read a conversation', {
      response: conversation,
      run: async ({ caller, params }) => {
        const id = params('session_id');
        const session = await findCallerSession(context, caller, id);
        if (session === undefined) throw notFound('conversation', id);
        const created_at = Math.floor(session.createdAt / 1000);
        return { id, object: 'conversation' as const, created_at, metadata: {} };
      },
    }),
  ];
}

async function create(context: ServerContext, call: Call<ResponsesRequest>): Promise<Response> {
  const { body, caller, idempotentRequest } = call;
  const { key } = idempotentRequest;
  const { answers: clientAnswers, message, earlier } = splitItems(toItems(body));
  const named = body.conversation ?? undefined;
  const { session, isNew } = await chooseSession(context, caller, {
    model: body.model,
    conversation: typeof named === 'string' ? named : named?.id,
    previousResponse: body.previous_response_id ?? undefined,
    answers: clientAnswers,
    key,
  });
  const answers = toSessionAnswers(session, clientAnswers);
  const metadata = body.metadata ?? {};
  const clientTools = body.tools?.map((tool, index) =>
    parseClientTool(tool['type'], tool, `tools[${index}]`),
  );
  const [first, ...rest] = toInputs(answers, message, { messageId: key, clientTools, metadata });
  if (first === undefined)
    throw new InvalidInputError(
      'input',
      'has nothing new: its last item is not of the user, and answers no call.',
    );
  if (isNew) await appendHistory(context, session, toHistory(earlier, session.agentId), key);
  const run = await sendInputs(context, caller, session, [first, ...rest]);
  const id = formatResponseId({
    sessionId: session.id,
    messageId: message === undefined ? undefined : key,
    callIds: answers.map(({ callId }) => callId),
  });
  const isBackground = body.background === true;
  const fold = await openFold(context, run, { id, isBackground, metadata });
  return body.stream === true
    ? streamResponse(context, call, { run, fold, after: undefined })
    : readResponse(context, call, { run, fold, follow: !isBackground });
}

async function openFold(
  context: ServerContext,
  run: SessionRun,
  facts: {
    readonly id: string;
    readonly isBackground?: boolean;
    readonly metadata?: JsonObject;
  },
): Promise<ResponseFold> {
  const { session } = run;
  const calls = new Map<string, KnownCall>();
  let createdAt = context.clock.now();
  for await (const event of readLog(context, session, run.turnFrom)) {
    if (event.seq > run.from) {
      createdAt = event.at;
      break;
    }
    if (event.type === 'tool.call') calls.set(event.callId, event);
  }
  return new ResponseFold({
    id: facts.id,
    model: session.agentId,
    sessionId: session.id,
    createdAt: Math.floor(createdAt / 1000),
    isBackground: facts.isBackground ?? false,
    metadata: facts.metadata ?? {},
    calls,
  });
}

async function readResponse(
  context: ServerContext,
  { request }: Call,
  {
    run,
    fold,
    follow,
  }: { readonly run: SessionRun; readonly fold: ResponseFold; readonly follow: boolean },
): Promise<Response> {
  const signal = AbortSignal.any([request.signal, context.closing]);
  for await (const { update } of readRun(context, run, { signal, follow })) fold.add(update);
  return Response.json(fold.response);
}

function streamResponse(
  context: ServerContext,
  { request, isKeyValid, destroyConnection }: Call,
  {
    run,
    fold,
    after,
  }: {
    readonly run: SessionRun;
    readonly fold: ResponseFold;
    readonly after: number | undefined;
  },
): Response {
  const { clock, closing, keepAliveMs, readerTimeoutMs } = context;
  return frameStream({
    frames: (signal) => toFrames(context, run, { fold, after, signal }),
    signals: [request.signal, closing],
    isAllowed: isKeyValid,
    clock,
    keepAliveMs,
    readerTimeoutMs,
    destroyConnection,
  });
}

async function* toFrames(
  context: ServerContext,
  run: SessionRun,
  {
    fold,
    after,
    signal,
  }: {
    readonly fold: ResponseFold;
    readonly after: number | undefined;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<string, void, undefined> {
  for await (const { update, isShown } of readRun(context, run, { signal, previews: true })) {
    // The pieces that were streamed have counted.
    if (isShown) continue;
    let text = '';
    for (const event of fold.add(update)) {
      const data = cutEvent(event, after);
      if (data === undefined) continue;
      text += `event: ${event.type}\ndata: ${JSON.stringify(data)}\n\n`;
    }
    if (text !== '') yield text;
  }
}
