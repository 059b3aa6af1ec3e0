import { isClosedStatus, isRecord, omitUndefined } from '../../core/internal.ts';
import {
  assertInputSize,
  checkOptions,
  InvalidInputError,
  InvalidOutputError,
  deriveInvocationId,
  newMessageId,
  parseUserContent,
  userContent,
  validateStateDelta,
  isJsonObject,
} from '../../core/index.ts';
import type {
  Content,
  Json,
  LogEvent,
  PartialEvent,
  Seq,
  SessionKey,
  SessionStatus,
} from '../../core/index.ts';
import {
  answerIn,
  archiveIn,
  userIn,
  interruptIn,
  listAnsweringAgents,
  rewindIn,
} from '../../agents/internal.ts';
import type { Agent, Answer, OutcomeDefinition, RequestedOutput } from '../../agents/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { checkInjection } from '../../net/index.ts';
import type { AnyPlace, RecordSeq } from '../../net/index.ts';
import { answerKey, AlreadyAnsweredError, SessionNotFoundError } from '../../store/internal.ts';
import type { InjectReceipt, SessionRow, StoredStatus } from '../../store/index.ts';
import { createOutputSchema, toToolResponse } from '../../tools/internal.ts';
import type { InferArgs, ToolParameters } from '../../tools/index.ts';

import {
  ANSWER_OPTIONS,
  APPROVE_OPTIONS,
  ASK_OPTIONS,
  DENY_OPTIONS,
  EVENTS_OPTIONS,
  FORK_OPTIONS,
  SEND_OPTIONS,
} from './session.ts';
import { toAppendInput } from './append-event.ts';
import type { AppendOptions, AppendReceipt, EventToAppend } from './append-event.ts';
import { toOutcomeInput } from './define-outcome.ts';
import type { DefineOutcomeOptions, OutcomeReceipt } from './define-outcome.ts';
import { toAnswer, toAnswerId, truncateAnswer } from './answer-input.ts';
import type { ResponseAnswer } from './answer-input.ts';
import type { HandleServices } from './handle-services.ts';
import { findLastTurn, findNextTurn, findSeqBeforeFirst } from './find-turn.ts';
import type { SessionInspection } from '../inspection/session-inspection.ts';
import { forkSession } from '../journal/fork-session.ts';
import { planRewind } from '../journal/plan-rewind.ts';
import { toMessageMetadata } from './message-metadata.ts';
import { listPendingCalls } from './pending-calls.ts';
import { CallNotPendingError, RuntimeClosedError } from './runtime-errors.ts';
import type { AskOptions, EventsOptions, PendingCall, SendOptions, Session } from './session.ts';
import { findCurrentWait } from '../log/find-current-wait.ts';
import { StatusControl } from './status-control.ts';
import { createTurn } from './turn.ts';
import type { SentInput, Turn, TurnOptions } from './turn.ts';

/** The statuses in which the conversation can be rewound. */
const REWINDABLE: readonly SessionStatus[] = ['idle', 'running', 'waiting', 'failed'];

/** The inputs that a completed session takes. An interrupt that comes late changes nothing. */
const TAKEN_WHEN_CLOSED: ReadonlySet<string> = new Set([archiveIn.name, interruptIn.name]);

interface NewInput {
  readonly place: AnyPlace;
  readonly value: unknown;
  readonly dedupeKey: string;
  /** The session of the called agent that gets the input. Default: this session. */
  readonly session?: string;
}

export class SessionHandle implements Session {
  readonly id: string;
  readonly key: SessionKey;
  readonly agent: string;
  readonly #agent: Agent;
  readonly #services: HandleServices;

  constructor(key: SessionKey, agent: Agent, services: HandleServices) {
    this.id = key.sessionId;
    this.key = key;
    this.agent = agent.name;
    this.#agent = agent;
    this.#services = services;
  }

  get #waits(): Pick<TurnOptions, 'findWait' | 'listPending'> {
    return {
      findWait: async () =>
        this.#services.read(async () => findCurrentWait(this.#services.store, this.key)),
      listPending: async () => this.pending(),
    };
  }

  async status(): Promise<SessionRow> {
    return this.#assertFound(await this.#services.readRow(this.key));
  }

  #assertFound(row: SessionRow | undefined): SessionRow {
    if (row === undefined) throw new SessionNotFoundError(this.key, true);
    return row;
  }

  send(message: string | Content, options: SendOptions = {}): Turn {
    checkOptions(SEND_OPTIONS, options);
    return this.#send(message, options);
  }

  async ask(message: string | Content, options?: SendOptions): Promise<string>;
  async ask<S extends ToolParameters>(
    message: string | Content,
    options: AskOptions<S>,
  ): Promise<InferArgs<S>>;
  async ask<S extends ToolParameters>(
    message: string | Content,
    options: SendOptions & { readonly output?: S } = {},
  ): Promise<string | InferArgs<S>> {
    checkOptions(ASK_OPTIONS, options);
    if (options.output === undefined) return this.#send(message, options).text();
    const { jsonSchema, parse } = createOutputSchema(options.output);
    const text = await this.#send(message, options, jsonSchema).text();
    const output = await parse(text);
    if (!output.ok) throw new InvalidOutputError(this.id, text, output.issues);
    return output.value;
  }

  #send(message: string | Content, options: SendOptions, schema?: JsonSchema): Turn {
    assertMessage(message);
    assertInputSize(message, 'message', this.#services.maxInputBytes);
    const content = typeof message === 'string' ? userContent(message) : parseUserContent(message);
    if (content.role !== 'user' || content.parts.length === 0) {
      throw new InvalidInputError('message', 'must have the role "user" and at least one part.');
    }
    const messageId = options.messageId ?? newMessageId();
    const { stateDelta = {} } = options;
    const metadata = toMessageMetadata({
      runConfig: options.runConfig,
      traceContext: this.#services.propagateContext(this.agent),
      requestedOutput: schema === undefined ? undefined : this.#requestOutput(schema),
      custom: options.metadata,
    });
    const delta = validateStateDelta(stateDelta);
    const fields = omitUndefined({
      stateDelta: Object.keys(delta).length === 0 ? undefined : delta,
      metadata,
    });
    const invocationId = deriveInvocationId(messageId);
    return createTurn({
      session: this.id,
      invocationId,
      ...this.#waits,
      sent: this.#sendAfter(async () => ({
        place: userIn,
        value: { messageId, invocationId, content, ...fields },
        dedupeKey: `message:${messageId}`,
      })),
      readLog: (from, filter) => this.#services.readLog(this.key, from, {}, filter),
      begins: (event) => event.type === 'user.message' && event.invocationId === invocationId,
      findBlockingWait: async (from) => {
        const wait = await findCurrentWait(this.#services.store, this.key);
        const isOtherTurn = wait !== undefined && wait.invocationId !== invocationId;
        return isOtherTurn && wait.seq <= from ? wait : undefined;
      },
    });
  }

  #requestOutput(schema: JsonSchema): RequestedOutput {
    return { schema, agents: listAnsweringAgents(this.#agent) };
  }

  events(from: Seq = 0, options: EventsOptions = {}): AsyncIterable<LogEvent | PartialEvent> {
    checkOptions(EVENTS_OPTIONS, options);
    if (this.#services.isClosed()) throw new RuntimeClosedError();
    if (!Number.isSafeInteger(from) || from < 0)
      throw new InvalidInputError(
        'from',
        `must be an event number, or 0 for all events; it is ${from}.`,
      );
    return this.#services.readLog(this.key, from, options);
  }

  async pending(): Promise<readonly PendingCall[]> {
    const { store, findAuthorName } = this.#services;
    const { own, called } = await listPendingCalls(store, await this.status(), findAuthorName);
    if (called.length === 0) return own;
    // An answer to a called agent's call continues the turn of this session.
    const invocationId = (await this.#findRunningTurn()) ?? '';
    return [...own, ...called.map((call) => ({ ...call, invocationId }))];
  }

  approve(callId: string, options: { readonly fingerprint?: string | undefined } = {}): Turn {
    checkOptions(APPROVE_OPTIONS, options);
    return this.#answer(callId, (call) => {
      if (call.needs !== 'approval')
        throw new InvalidInputError(
          'callId',
          `"${callId}" waits for a result, not for an approval: answer or deny it.`,
        );
      if (options.fingerprint !== undefined && options.fingerprint !== call.fingerprint) {
        throw new InvalidInputError(
          'fingerprint',
          `does not match call "${callId}": review its current arguments.`,
        );
      }
      return { callId, decision: 'approved', fingerprint: call.fingerprint };
    });
  }

  deny(callId: string, options: { readonly message?: string | undefined } = {}): Turn {
    checkOptions(DENY_OPTIONS, options);
    return this.#answer(callId, () => ({
      callId,
      decision: 'denied',
      ...omitUndefined({ message: options.message }),
    }));
  }

  answer(callId: string, response: Json, options: { readonly isError?: boolean } = {}): Turn {
    checkOptions(ANSWER_OPTIONS, options);
    assertInputSize(response, 'response', this.#services.maxInputBytes);
    return this.#answer(callId, (call) => {
      if (call.needs !== 'result')
        throw new InvalidInputError(
          'callId',
          `"${callId}" waits for an approval, not for a result: approve or deny it.`,
        );
      const result = toAnswer(callId, response, options.isError);
      // A resumed tool reads its answer itself; no model sees it, so it is not truncated.
      return call.resumes !== true ? this.#truncateAnswer(result, call.name) : result;
    });
  }

  async submitResultEarly(
    callId: string,
    response: Json,
    options: { readonly isError?: boolean } = {},
  ): Promise<InjectReceipt> {
    assertInputSize(response, 'response', this.#services.maxInputBytes);
    return this.#services.submit(async () => {
      const answer = await this.#truncateAnswer(toAnswer(callId, response, options.isError));
      const value = this.#validateInput(answerIn.name, answer);
      const answerId = toAnswerId({ callId, needs: 'result' });
      return {
        key: this.key,
        input: { place: answerIn.name, value },
        dedupeKey: answerKey(answerId),
      };
    });
  }

  async update(
    callId: string,
    progress: Json,
    { dedupeKey = newMessageId() }: { readonly dedupeKey?: string } = {},
  ): Promise<void> {
    assertInputSize(progress, 'progress', this.#services.maxInputBytes);
    await this.#services.submit(async () => {
      const { needs, name, session = this.id } = await this.#pendingCall(callId);
      if (needs !== 'result')
        throw new InvalidInputError(
          'callId',
          `"${callId}" waits for an approval, not for a result: approve or deny it first.`,
        );
      const { response } = toToolResponse(progress);
      const update = { callId, decision: 'answered' as const, response, isUpdate: true };
      const answer = await this.#truncateAnswer(update, name);
      const value = this.#validateInput(answerIn.name, answer);
      return {
        key: { ...this.key, sessionId: session },
        input: { place: answerIn.name, value },
        dedupeKey: `update:${callId}:${dedupeKey}`,
      };
    });
  }

  async append(event: EventToAppend, options: AppendOptions = {}): Promise<AppendReceipt> {
    const { place, value, dedupeKey } = toAppendInput(event, options, this.#services.now());
    const checked = this.#validateInput(place.name, value);
    const { duplicate } = await this.#services.submit(async () => {
      await this.#control.assertStatus('appending an event', (status) => !isClosedStatus(status));
      return { key: this.key, input: { place: place.name, value: checked }, dedupeKey };
    });
    return { eventId: value.event.id, duplicate };
  }

  async defineOutcome(
    definition: OutcomeDefinition,
    options: DefineOutcomeOptions = {},
  ): Promise<OutcomeReceipt> {
    const { place, value, dedupeKey } = toOutcomeInput(this.#agent, definition, options);
    return { ...(await this.inject(place, value, { dedupeKey })), outcomeId: value.outcomeId };
  }

  async inject(
    place: string | AnyPlace,
    value: unknown,
    options: { readonly dedupeKey: string },
  ): Promise<InjectReceipt> {
    const name = typeof place === 'string' ? place : place.name;
    assertInputSize(value, name, this.#services.maxInputBytes);
    const message =
      name === userIn.name ? this.#withTraceContext(parseSignalMessage(value)) : value;
    const checked = this.#validateInput(name, message);
    return this.#services.submit(async () => {
      if (!TAKEN_WHEN_CLOSED.has(name))
        await this.#control.assertStatus(
          name === userIn.name ? 'sending a message' : `an input to "${name}"`,
          (status) => !isClosedStatus(status),
        );
      return {
        key: this.key,
        input: { place: name, value: checked },
        dedupeKey: `signal:${this.#originalName(name)}:${options.dedupeKey}`,
      };
    });
  }

  /** The first name of a place. A signal that is repeated after the place got another name has the same key. */
  #originalName(place: string): string {
    return this.#agent.compiled.places.get(place)?.formerNames[0] ?? place;
  }

  /** Adds the trace context to a message that is sent as a signal. */
  #withTraceContext(message: unknown): unknown {
    const traceContext = this.#services.propagateContext(this.agent);
    if (traceContext === undefined || !isJsonObject(message)) return message;
    const { metadata } = message;
    return {
      ...message,
      metadata: { ...(isJsonObject(metadata) ? metadata : {}), traceContext },
    };
  }

  async interrupt(): Promise<void> {
    await this.#services.submit(async () => {
      // The inbox before the running turn: a message that starts its turn in between is then found in one of the two.
      const next = findNextTurn(await this.#services.listUnread(this.key));
      const running = await this.#findRunningTurn();
      const invocationId = running ?? next ?? `none:${newMessageId()}`;
      return {
        key: this.key,
        input: { place: interruptIn.name, value: { invocationId } },
        dedupeKey: `interrupt:${running ?? newMessageId()}`,
      };
    });
  }

  async fork(options: { readonly id: string; readonly upTo?: Seq }): Promise<Session> {
    checkOptions(FORK_OPTIONS, options);
    const { id, upTo } = options;
    const to = { ...this.key, sessionId: id };
    await forkSession(this.#services.store, {
      from: await this.status(),
      agent: this.#agent,
      to,
      ...omitUndefined({ upTo }),
    });
    return this.#services.open(to, this.agent);
  }

  async pause(): Promise<void> {
    await this.#control.change('pause');
  }

  async resume(): Promise<void> {
    await this.#control.change('resume');
  }

  async complete(): Promise<void> {
    await this.#control.change('complete');
  }

  async archive(): Promise<void> {
    await this.#control.change('archive');
  }

  async rewind({
    beforeInvocationId,
    dedupeKey = newMessageId(),
  }: {
    readonly beforeInvocationId: string;
    readonly dedupeKey?: string;
  }): Promise<void> {
    const { inputSeq } = await this.#services.submit(async () => {
      await this.#control.assertStatus('a rewind', (status) => REWINDABLE.includes(status));
      const rewind = await planRewind(
        this.#services.store,
        this.key,
        this.#agent.compiled,
        beforeInvocationId,
      );
      const value = checkInjection(this.#agent.compiled, rewindIn.name, rewind);
      return {
        key: this.key,
        input: { place: rewindIn.name, value },
        dedupeKey: `rewind:${dedupeKey}`,
      };
    });
    await this.#waitUntilConsumed(inputSeq);
  }

  records(
    ...args: Parameters<SessionInspection['records']>
  ): ReturnType<SessionInspection['records']> {
    return this.#inspection.records(...args);
  }

  async markingAt(
    ...args: Parameters<SessionInspection['markingAt']>
  ): ReturnType<SessionInspection['markingAt']> {
    return this.#inspection.markingAt(...args);
  }

  async net(): ReturnType<SessionInspection['net']> {
    return this.#inspection.net();
  }

  async modelRequest(firing: RecordSeq): ReturnType<SessionInspection['modelRequest']> {
    return this.#inspection.modelRequest(firing);
  }

  forkPoints(after?: Seq): ReturnType<SessionInspection['forkPoints']> {
    return this.#inspection.forkPoints(after);
  }

  async close(): Promise<void> {
    await this.#services.release(this.key);
  }

  get #control(): StatusControl {
    const readRow = async (): Promise<SessionRow> => this.status();
    return new StatusControl({ key: this.key, services: this.#services, readRow });
  }

  get #inspection(): SessionInspection {
    return this.#services.inspect(this.key, this.#agent);
  }

  async #truncateAnswer(answer: ResponseAnswer, toolName?: string): Promise<Answer> {
    const { artifacts } = this.#services;
    return truncateAnswer(answer, { agent: this.#agent, key: this.key, artifacts, toolName });
  }

  #answer(callId: string, answerTo: (call: PendingCall) => Answer | Promise<Answer>): Turn {
    let invocationId = '';
    const sent = this.#sendAfter(async () => {
      const call = await this.#pendingCall(callId);
      ({ invocationId } = call);
      return {
        place: answerIn,
        value: await answerTo(call),
        dedupeKey: answerKey(toAnswerId(call)),
        ...omitUndefined({ session: call.session }),
      };
    });
    return createTurn({
      session: this.id,
      get invocationId() {
        return invocationId;
      },
      sent,
      ...this.#waits,
      readLog: (from, filter) => this.#services.readLog(this.key, from, {}, filter),
      begins: (event) => 'invocationId' in event && event.invocationId === invocationId,
    });
  }

  /** @throws InputTooLargeError, UnknownPlaceError, TokenSchemaError */
  #validateInput(place: string, value: unknown): Json {
    assertInputSize(value, place, this.#services.maxInputBytes);
    return checkInjection(this.#agent.compiled, place, value);
  }

  async #pendingCall(callId: string): Promise<PendingCall> {
    const pending = await this.pending();
    const call = pending.find((one) => one.callId === callId);
    if (call !== undefined) return call;
    const { store } = this.#services;
    const called = await store.list({ ...this.key, parent: this.id });
    for (const key of [this.key, ...called.map((row) => row.key)]) {
      for await (const event of store.read(key, 0)) {
        if (event.type === 'tool.answered' && event.callId === callId)
          throw new AlreadyAnsweredError(callId, event.seq);
      }
    }
    throw new CallNotPendingError(
      callId,
      pending.map((one) => one.callId),
    );
  }

  /** Sends an input and returns the log position before it, from where its effects can be read. */
  async #sendAfter(input: () => Promise<NewInput>): Promise<SentInput> {
    let position = { from: 0, wasWaiting: false };
    let sent: unknown;
    const { inputSeq, duplicate } = await this.#services.submit(async () => {
      const { from, wasWaiting, status } = await this.#readLogPosition();
      const { place, value, dedupeKey, session = this.id } = await input();
      const checked = this.#validateInput(place.name, value);
      if (place === userIn) await this.#control.assertTakesMessage(status, value);
      position = { from, wasWaiting };
      sent = value;
      const key = { ...this.key, sessionId: session };
      return { key, input: { place: place.name, value: checked }, dedupeKey };
    });
    if (!duplicate) return { inputSeq, ...position };
    const { store, read } = this.#services;
    const earlier = await read(async () => findSeqBeforeFirst(store, this.key, sent));
    return { inputSeq, ...position, from: earlier ?? position.from };
  }

  async #readLogPosition(): Promise<
    Pick<SentInput, 'from' | 'wasWaiting'> & { readonly status: StoredStatus }
  > {
    const hosted = this.#services.findHosted(this.key);
    // A session that another runtime has closed, or deleted and created again, is read from the store.
    if (hosted !== undefined && !isClosedStatus(hosted.status))
      return { from: hosted.lastSeq, wasWaiting: hosted.isWaiting, status: hosted.status };
    const row = await this.status();
    const { lastSeq: from } = row;
    return { from, wasWaiting: row.activity === 'waiting', status: row.status };
  }

  async #findRunningTurn(): Promise<string | undefined> {
    const { store, read } = this.#services;
    const { lastSeq, activity } = this.#assertFound(await read(async () => store.find(this.key)));
    const hosted = this.#services.findHosted(this.key);
    // Trust the hosted session only if it is up to date: another runtime may have taken the session.
    if (hosted !== undefined && hosted.lastSeq >= lastSeq) return hosted.invocationId;
    if (activity === 'idle') return undefined;
    return findLastTurn(this.#services.store, this.key, lastSeq);
  }

  /** Resolves when the session has consumed the input. */
  async #waitUntilConsumed(inputSeq: number): Promise<void> {
    const { store, readLog } = this.#services;
    const { lastSeq } = await this.status();
    const isConsumed = async (): Promise<boolean> =>
      (await store.inbox(this.key, inputSeq - 1))[0]?.inputSeq !== inputSeq;
    if (await isConsumed()) return;
    for await (const event of readLog(this.key, lastSeq, {})) {
      if ('seq' in event && (await isConsumed())) return;
    }
  }
}

/** Applies the rules of user content to a message that is sent as a signal. @throws InvalidInputError */
function parseSignalMessage(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('content' in value)) return value;
  return { ...value, content: parseUserContent(value.content) };
}

/** @throws InvalidInputError for a message that is neither text nor an object */
function assertMessage(message: unknown): void {
  if (typeof message === 'string' || isRecord(message)) return;
  const kind = Array.isArray(message) ? 'a list' : message === null ? 'null' : typeof message;
  throw new InvalidInputError(
    'message',
    `must be text, or content such as { role: 'user', parts: [{ text: 'Hi' }] }; it is ${kind}.`,
  );
}
