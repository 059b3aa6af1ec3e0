import { isDeepStrictEqual } from 'node:util';
import { deriveInvocationId } from '../../core/index.ts';
import type { CallId, Content, Json, JsonObject, Seq, StateDelta } from '../../core/index.ts';
import { omitUndefined, readMember } from '../../core/internal.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { CallNotPendingError } from '../../runtime/index.ts';
import type { Session, Turn } from '../../runtime/index.ts';
import { findReportedCalls } from '../../runtime/internal.ts';
import { AlreadyAnsweredError } from '../../store/index.ts';
import type { ClientTool } from '../../tools/index.ts';
import { toToolResponse } from '../../tools/internal.ts';
import type { Caller } from '../auth/api-keys.ts';
import { readLog, toSessionKey, toSessionRef } from '../events/session-log.ts';
import { enqueueForWorker } from '../routes/session-lookup.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { announcesCall, findSeqBefore, toNewRun } from './find-run.ts';
import type { SessionRun } from './session-run.ts';

/** What a client sends to a session. */
export type ClientInput =
  | {
      readonly type: 'message';
      /** A message with the id of an earlier one of the session is not sent again. */
      readonly messageId: string;
      readonly content: Content;
      readonly stateDelta?: StateDelta | undefined;
      /** Custom metadata for tools and callbacks. No model sees it. */
      readonly metadata?: JsonObject | undefined;
      /** Tools of the client. A call of one waits for its `result`. */
      readonly clientTools?: readonly ClientTool[] | undefined;
    }
  | { readonly type: 'approve'; readonly callId: CallId }
  | { readonly type: 'deny'; readonly callId: CallId; readonly message?: string | undefined }
  | {
      readonly type: 'result';
      readonly callId: CallId;
      readonly response: Json;
      readonly isError?: boolean | undefined;
    };

type AnswerInput = Exclude<ClientInput, { readonly type: 'message' }>;

/** How often inputs are sent again when another client answers one of their calls meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Sends the inputs of one request to a session: all of them or none. An input that was sent before has no further
 * effect. Returns the run that answers the request, the same for each repetition.
 * @throws AlreadyAnsweredError when a call has another answer; CallNotPendingError; IllegalTransitionError;
 *   InvalidInputError
 */
export async function sendInputs(
  context: ServerContext,
  caller: Caller,
  session: ManagedSession,
  inputs: readonly [ClientInput, ...ClientInput[]],
): Promise<SessionRun> {
  await enqueueForWorker(context, caller.workspace, session);
  for (let attempt = 1; ; attempt++) {
    try {
      return await trySend(context, session, inputs);
    } catch (error) {
      if (!(error instanceof AlreadyAnsweredError) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function trySend(
  context: ServerContext,
  session: ManagedSession,
  inputs: readonly ClientInput[],
): Promise<SessionRun> {
  const { id, userId: user } = toSessionRef(session);
  const batch = context.runtime.runtime.batch();
  const handle = await batch.session(id, { user });
  const pending = await handle.pending();
  /** The log position before each input, where it is known before the inputs are sent. */
  const positions: { readonly from: Seq; readonly turnFrom: Seq }[] = [];
  const invocationIds: string[] = [];
  const answers: CallId[] = [];
  const sent: Promise<{ readonly duplicate: boolean }>[] = [];
  const messageIds: string[] = [];
  for (const input of inputs) {
    if (input.type === 'message') {
      const added = await batch.add(async () => sendMessage(handle, input).receipt);
      sent.push(added.done);
      messageIds.push(input.messageId);
      invocationIds.push(deriveInvocationId(input.messageId));
      continue;
    }
    const { callId } = input;
    const call = pending.find((one) => one.callId === callId);
    if (call === undefined && (await isLateResult(context, session, input))) {
      const added = await batch.add(async () => sendAnswer(handle, input).receipt);
      const messageId = readMember(added.input, 'messageId');
      sent.push(added.done);
      messageIds.push(String(messageId));
      invocationIds.push(deriveInvocationId(String(messageId)));
      continue;
    }
    if (call === undefined) {
      const answered = await findAnswer(context, session, input);
      if (answered === undefined)
        throw new CallNotPendingError(
          callId,
          pending.map((one) => one.callId),
        );
      invocationIds.push(answered.invocationId);
      positions.push(answered);
      continue;
    }
    await batch.add(async () => sendAnswer(handle, input).accepted);
    invocationIds.push(call.invocationId);
    if (call.session === undefined) answers.push(callId);
    const turnFrom = await findSeqBefore(
      context,
      session,
      (event) => event.type === 'user.message' && event.invocationId === call.invocationId,
    );
    positions.push({ from: session.lastSeq, turnFrom: turnFrom ?? 0 });
  }
  await batch.submit();
  const receipts = await Promise.all(sent);
  let isNew = false;
  for (const [index, { duplicate }] of receipts.entries()) {
    const messageId = messageIds[index];
    const before = duplicate
      ? await findSeqBefore(
          context,
          session,
          (event) => event.type === 'user.message' && event.messageId === messageId,
        )
      : undefined;
    isNew = before === undefined;
    const from = before ?? session.lastSeq;
    positions.push({ from, turnFrom: from });
  }
  const run = toNewRun(session, [...new Set(invocationIds)]);
  return {
    ...run,
    from: Math.min(...positions.map(({ from }) => from)),
    turnFrom: Math.min(...positions.map(({ turnFrom }) => turnFrom)),
    answers,
    isNew,
  };
}

function sendMessage(
  session: Session,
  { messageId, content, ...options }: Extract<ClientInput, { readonly type: 'message' }>,
): Turn {
  const { stateDelta, metadata, clientTools } = options;
  return session.send(content, {
    messageId,
    ...omitUndefined({ stateDelta, metadata, clientTools }),
  });
}

function sendAnswer(session: Session, input: AnswerInput): Turn {
  const { callId } = input;
  switch (input.type) {
    case 'approve':
      return session.approve(callId);
    case 'deny':
      return session.deny(callId, omitUndefined({ message: input.message }));
    case 'result':
      return session.answer(callId, input.response, omitUndefined({ isError: input.isError }));
    default:
      return input satisfies never;
  }
}

/** True for a later result of a long-running tool, which is a message. */
async function isLateResult(
  { store }: ServerContext,
  session: ManagedSession,
  input: AnswerInput,
): Promise<boolean> {
  if (input.type !== 'result') return false;
  return (await findReportedCalls(store, toSessionKey(session), [input.callId])).length > 0;
}

/**
 * Finds the answer that a call got before, if it is the same. Undefined when the session has no answer to such a call.
 * @throws AlreadyAnsweredError when it is another answer
 */
async function findAnswer(
  context: ServerContext,
  session: ManagedSession,
  input: AnswerInput,
): Promise<
  { readonly invocationId: string; readonly from: Seq; readonly turnFrom: Seq } | undefined
> {
  const { callId } = input;
  let turnFrom = 0;
  let found:
    | { readonly invocationId: string; readonly from: Seq; readonly turnFrom: Seq }
    | undefined;
  for await (const event of readLog(context, session, 0)) {
    if (event.type === 'user.message') turnFrom = event.seq - 1;
    if (event.type === 'tool.answered' && event.callId === callId) {
      if (event.decision !== toDecision(input)) throw new AlreadyAnsweredError(callId, event.seq);
      // The turn resumes with the event before the answer.
      found = { invocationId: event.invocationId, from: event.seq - 1, turnFrom };
    }
    if (announcesCall(event, callId) && event.type === 'tool.pending')
      // Its answer is in the log of the called agent.
      found ??= { invocationId: event.invocationId, from: event.seq, turnFrom };
    if (
      event.type === 'tool.result' &&
      event.callId === callId &&
      input.type === 'result' &&
      event.outcome === 'ok' &&
      !isSameResponse(event.response, input.response)
    )
      throw new AlreadyAnsweredError(callId, event.seq);
  }
  return found;
}

function toDecision({ type }: AnswerInput): 'approved' | 'denied' | 'answered' {
  if (type === 'approve') return 'approved';
  return type === 'deny' ? 'denied' : 'answered';
}

function isSameResponse(logged: Json, sent: Json): boolean {
  return isDeepStrictEqual(logged, toToolResponse(sent).response);
}
