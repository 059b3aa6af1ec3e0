import { omitUndefined } from '../../core/internal.ts';
import {
  assertInputSize,
  deriveInvocationId,
  encodeJson,
  InvalidInputError,
  newMessageId,
  sha256Hex,
} from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { answerIn, userIn } from '../../agents/internal.ts';
import type { Answer, IncomingMessage } from '../../agents/index.ts';
import { answerKey, AlreadyAnsweredError } from '../../store/internal.ts';
import type { InjectReceipt } from '../../store/index.ts';
import { toToolResponse } from '../../tools/internal.ts';
import { toAnswer, toAnswerId, truncateAnswer } from './answer-input.ts';
import type { ResponseAnswer } from './answer-input.ts';
import { findReportedCalls } from '../log/find-reported-call.ts';
import type { ReportedCall } from '../log/find-reported-call.ts';
import { MessageSender } from './message-sender.ts';
import { listPendingCalls } from './pending-calls.ts';
import { CallNotPendingError } from './runtime-errors.ts';
import type { PendingCall } from './session.ts';
import type { SessionAccess } from './session-access.ts';
import { createTurn } from './turn.ts';
import type { Turn } from './turn.ts';

/** The message with a later result. */
type LateResult = Pick<IncomingMessage, 'messageId' | 'invocationId' | 'content'>;

/** What is left to know of a call whose update was accepted before. */
type AcceptedUpdate = Pick<PendingCall, 'needs' | 'session'> & { readonly name?: undefined };

/** Lists and answers the calls that wait, in a session and in those of the agents that it called. */
export class CallAnswers {
  readonly #session: SessionAccess;

  constructor(session: SessionAccess) {
    this.#session = session;
  }

  async list(): Promise<readonly PendingCall[]> {
    const { store, findAuthorName } = this.#session.services;
    const row = await this.#session.readRow();
    const { own, called } = await listPendingCalls(store, row, findAuthorName);
    if (called.length === 0) return own;
    // An answer to a called agent's call continues the turn of this session.
    const invocationId = (await this.#session.findRunningTurn()) ?? '';
    return [...own, ...called.map((call) => ({ ...call, invocationId }))];
  }

  approve(callId: string, fingerprint: string | undefined): Turn {
    return this.#answer(callId, (call) => {
      if (call.needs !== 'approval')
        throw new InvalidInputError(
          'callId',
          `"${callId}" waits for a result, not for an approval: answer or deny it.`,
        );
      if (fingerprint !== undefined && fingerprint !== call.fingerprint) {
        throw new InvalidInputError(
          'fingerprint',
          `does not match call "${callId}": review its current arguments.`,
        );
      }
      return { callId, decision: 'approved', fingerprint: call.fingerprint };
    });
  }

  deny(callId: string, message: string | undefined): Turn {
    return this.#answer(callId, () => ({
      callId,
      decision: 'denied',
      ...omitUndefined({ message }),
    }));
  }

  answer(callId: string, response: Json, isError: boolean | undefined): Turn {
    this.#assertJson(response, 'response');
    const result = toAnswer(callId, response, isError);
    return this.#answer(
      callId,
      (call) => {
        if (call.needs !== 'result')
          throw new InvalidInputError(
            'callId',
            `"${callId}" waits for an approval, not for a result: approve or deny it.`,
          );
        // A resumed tool reads its answer itself; no model sees it, so it is not truncated.
        return call.resumes !== true ? this.#truncate(result, call.name) : result;
      },
      result,
    );
  }

  async submitEarly(
    callId: string,
    response: Json,
    isError: boolean | undefined,
  ): Promise<InjectReceipt> {
    this.#assertJson(response, 'response');
    const { key, services, control } = this.#session;
    const submitted = services.submit(async () => {
      const dedupeKey = answerKey(toAnswerId({ callId, needs: 'result' }));
      await control.assertStatus(`a result of call "${callId}"`, dedupeKey);
      const answer = await this.#truncate(toAnswer(callId, response, isError));
      const value = this.#session.validateInput(answerIn.name, answer);
      return { key, input: { place: answerIn.name, value }, dedupeKey };
    });
    return submitted.catch(throwWithCall(callId));
  }

  async update(callId: string, progress: Json, dedupeKey: string = newMessageId()): Promise<void> {
    this.#assertJson(progress, 'progress');
    const { key, services } = this.#session;
    await services.submit(async () => {
      const inputKey = `update:${callId}:${dedupeKey}`;
      const found = await this.#find(callId, inputKey);
      const { needs, name, session = key.sessionId } = found;
      if (needs !== 'result')
        throw new InvalidInputError(
          'callId',
          `"${callId}" waits for an approval, not for a result: approve or deny it first.`,
        );
      const { response } = toToolResponse(progress);
      const update = { callId, decision: 'answered' as const, response, isUpdate: true };
      const answer = await this.#truncate(update, name);
      const value = this.#session.validateInput(answerIn.name, answer);
      return {
        key: { ...key, sessionId: session },
        input: { place: answerIn.name, value },
        dedupeKey: inputKey,
      };
    });
  }

  /** The later result of a call of a long-running tool: a message. The same result counts once. */
  async #toLateResult({ callId, name }: ReportedCall, answer: ResponseAnswer): Promise<LateResult> {
    const { response, isError } = await this.#truncate(answer, name);
    const text = encodeJson([response ?? null, isError === true], 'response');
    const messageId = `${callId}/result/${sha256Hex(text).slice(0, 16)}`;
    const functionResponse = {
      id: callId,
      name,
      response: response ?? {},
      ...omitUndefined({ isError: isError === true ? isError : undefined }),
    };
    const content = { role: 'user' as const, parts: [{ functionResponse }] };
    const invocationId = deriveInvocationId(messageId);
    return { messageId, invocationId, content };
  }

  /** The call, if it has a first result and does not wait. */
  async #findReported(callId: string): Promise<ReportedCall | undefined> {
    if ((await this.list()).some((call) => call.callId === callId)) return undefined;
    const { key, services } = this.#session;
    const [call] = await findReportedCalls(services.store, key, [callId]);
    return call;
  }

  /** @param result what a call that has a first result gets as a later one. Default: it is refused */
  #answer(
    callId: string,
    answerTo: (call: PendingCall) => Answer | Promise<Answer>,
    result?: ResponseAnswer,
  ): Turn {
    const { key, services } = this.#session;
    const sender = new MessageSender(this.#session, async () => this.list());
    let invocationId = '';
    const sent = sender.sendAfter(async () => {
      const reported = result && (await this.#findReported(callId));
      if (result !== undefined && reported !== undefined) {
        const message = await this.#toLateResult(reported, result);
        ({ invocationId } = message);
        return { place: userIn, value: message, dedupeKey: `message:${message.messageId}` };
      }
      const call = await this.#find(callId);
      ({ invocationId } = call);
      return {
        place: answerIn,
        value: await answerTo(call),
        dedupeKey: answerKey(toAnswerId(call)),
        ...omitUndefined({ session: call.session }),
      };
    });
    return createTurn({
      session: key.sessionId,
      get invocationId() {
        return invocationId;
      },
      sent: sent.catch(throwWithCall(callId)),
      ...sender.waits,
      readLog: (from, filter) => services.readLog(key, from, {}, filter),
      begins: (event) => 'invocationId' in event && event.invocationId === invocationId,
    });
  }

  async #find(callId: string): Promise<PendingCall>;
  /** The update when the call does not wait any more, and an input with this key was accepted while it did. */
  async #find(callId: string, dedupeKey: string): Promise<PendingCall | AcceptedUpdate>;
  async #find(callId: string, dedupeKey?: string): Promise<PendingCall | AcceptedUpdate> {
    const pending = await this.list();
    const call = pending.find((one) => one.callId === callId);
    if (call !== undefined) return call;
    const { key, services, control } = this.#session;
    if (dedupeKey !== undefined && (await control.isAccepted(dedupeKey)))
      return { needs: 'result' };
    const called = await services.store.list({ ...key, parent: key.sessionId });
    for (const { key: holder } of dedupeKey === undefined ? [] : called)
      if ((await services.store.findInput(holder, dedupeKey ?? '')) !== undefined)
        return { needs: 'result', session: holder.sessionId };
    for (const holder of [key, ...called.map((row) => row.key)]) {
      for await (const event of services.store.read(holder, 0)) {
        if (event.type === 'tool.answered' && event.callId === callId)
          throw new AlreadyAnsweredError(callId, event.seq);
      }
    }
    await control.assertStatus(`an answer to call "${callId}"`, undefined);
    throw new CallNotPendingError(
      callId,
      pending.map((one) => one.callId),
    );
  }

  async #truncate(answer: ResponseAnswer, toolName?: string): Promise<Answer> {
    const { agent, key, services } = this.#session;
    return truncateAnswer(answer, { agent, key, artifacts: services.artifacts, toolName });
  }

  /** A value that is not JSON is refused here: as the answer of the call, it could not be replaced by a better one. */
  #assertJson(value: Json, name: string): void {
    assertInputSize(value, name, this.#session.services.maxInputBytes);
    encodeJson(value, name);
  }
}

/** The store knows the question that was answered, and the caller the call. */
function throwWithCall(callId: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof AlreadyAnsweredError)
      throw new AlreadyAnsweredError(callId, error.inputSeq);
    throw error;
  };
}
