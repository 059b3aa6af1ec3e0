import { InvalidInputError, sha256Hex } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import { notFound } from '../../http/http-error.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession, openCallerSession } from '../caller-session.ts';
import { findAnswerRun, findMessageRun } from '../find-run.ts';
import { readRun } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import type { ClientAnswer } from './conversation-input.ts';
import { parseCallId, parseResponseId } from './response-id.ts';
import type { ResponseRef } from './response-id.ts';

/** What a request says about its session. */
export interface SessionChoice {
  /** The id of the agent. */
  readonly model: string | undefined;
  /** The id that the client has for the conversation. */
  readonly conversation: string | undefined;
  readonly previousResponse: string | undefined;
  readonly answers: readonly ClientAnswer[];
  /** The same for every repetition of the request. */
  readonly key: string;
}

/** The session that a request continues, or a new one. */
export interface ChosenSession {
  readonly session: ManagedSession;
  /** True: earlier items of the request are its history. */
  readonly isNew: boolean;
}

/**
 * Finds the session of a request: that of its conversation, of its previous response, or of the calls that it answers.
 * Otherwise starts one. A response that is not the last of its session is continued in a copy of the session.
 * @throws HttpError 404; InvalidInputError
 */
export async function chooseSession(
  context: ServerContext,
  caller: Caller,
  { model, conversation, previousResponse, answers, key }: SessionChoice,
): Promise<ChosenSession> {
  if (conversation !== undefined && previousResponse !== undefined)
    throw new InvalidInputError(
      'previous_response_id',
      'excludes conversation. Send one of the two.',
    );
  if (previousResponse !== undefined) {
    const { session, run } = await findResponse(context, caller, previousResponse);
    assertModel(session, model);
    const continued = answers.length > 0 ? session : await continueAfter(context, run, key);
    return { session: continued, isNew: false };
  }
  if (conversation !== undefined) {
    const known = await findCallerSession(context, caller, conversation);
    if (known !== undefined) {
      assertModel(known, model);
      return { session: known, isNew: known.lastSeq === 0 };
    }
  }
  const asked = answers.flatMap((answer) => parseCallId(answer.callId)?.sessionId ?? []);
  const [askedId] = asked;
  if (conversation === undefined && askedId !== undefined) {
    const session = await findCallerSession(context, caller, askedId);
    if (session === undefined) throw notFound('session', askedId);
    assertModel(session, model);
    return { session, isNew: false };
  }
  if (model === undefined)
    throw new InvalidInputError('model', 'must be the id of an agent: GET /openai/v1/models.');
  const id = conversation ?? `conv_${sha256Hex(key).slice(0, 32)}`;
  return { session: await openCallerSession(context, caller, { id, agentId: model }), isNew: true };
}

/** @throws HttpError 404 for an unknown response, and for one of another workspace */
export async function findResponse(
  context: ServerContext,
  caller: Caller,
  id: string,
): Promise<{
  readonly session: ManagedSession;
  readonly ref: ResponseRef;
  readonly run: SessionRun;
}> {
  const ref = parseResponseId(id);
  const session = await findCallerSession(context, caller, ref.sessionId);
  if (session === undefined) throw notFound('response', id);
  const { messageId, callIds } = ref;
  const message =
    messageId === undefined ? undefined : await findMessageRun(context, session, messageId);
  const answered =
    callIds.length === 0 ? undefined : await findAnswerRun(context, session, callIds);
  const last = message ?? answered;
  if (last === undefined) throw notFound('response', id);
  const first = answered ?? last;
  const invocationIds = [...new Set([...first.invocationIds, ...last.invocationIds])];
  return { session, ref, run: { ...first, invocationIds, isNew: last.isNew } };
}

/** The ids of answers as the session has them. @throws InvalidInputError for a call of another session */
export function toSessionAnswers(
  { id }: ManagedSession,
  answers: readonly ClientAnswer[],
): readonly ClientAnswer[] {
  return answers.map((answer) => {
    const call = parseCallId(answer.callId);
    if (call?.sessionId === id) return { ...answer, callId: call.callId };
    throw new InvalidInputError(
      'call_id',
      `is ${JSON.stringify(answer.callId)}, which is no call of session "${id}". Send the id of the call unchanged.`,
    );
  });
}

function assertModel({ agentId, id }: ManagedSession, model: string | undefined): void {
  if (model === undefined || model === agentId) return;
  throw new InvalidInputError(
    'model',
    `is "${model}"; session "${id}" has the agent "${agentId}". Send that, or start another conversation.`,
  );
}

/** The session of a run, or a copy of it up to the run if it has gone on since. */
async function continueAfter(
  context: ServerContext,
  run: SessionRun,
  key: string,
): Promise<ManagedSession> {
  const { session } = run;
  let end = run.from;
  let isEnded = false;
  const signal = context.closing;
  for await (const { seq, update } of readRun(context, run, { signal, follow: false })) {
    end = seq;
    isEnded = update.type === 'run.ended';
  }
  if (!isEnded) return session;
  for await (const event of readLog(context, session, end)) {
    if (event.type !== 'user.message') continue;
    // A repetition of the request finds its own message.
    if (event.messageId === key) return session;
    const id = `conv_${sha256Hex(key).slice(0, 32)}`;
    return context.runtime.fork(toSessionRef(session), { upTo: end, id });
  }
  return session;
}
