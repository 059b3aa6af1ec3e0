import {
  assertInputSize,
  encodeJson,
  checkOptions,
  InvalidInputError,
  deriveInvocationId,
  newMessageId,
  parseUserContent,
  rootSessionId,
  sha256Hex,
  userContent,
  validateStateDelta,
  isJsonObject,
} from '../../core/index.ts';
import type {
  Content,
  Json,
  JsonObject,
  LogEvent,
  PartialEvent,
  Seq,
  SessionKey,
} from '../../core/index.ts';
import { answerIn, userIn } from '../../agents/vocabulary/messages.ts';
import { interruptIn, rewindIn } from '../../agents/vocabulary/control.ts';
import { resultLimit } from '../../agents/tools/result-limit.ts';
import { TRACE_CONTEXT_KEY } from '../../agents/vocabulary/intercept-call.ts';
import type { Agent, Answer } from '../../agents/index.ts';
import { checkInjection } from '../../net/index.ts';
import type { AnyPlace } from '../../net/index.ts';
import { answerKey } from '../../store/rules/dedupe-key.ts';
import { AlreadyAnsweredError, SessionNotFoundError } from '../../store/store-errors.ts';
import type { InjectReceipt, InboxInput, SessionRow, Store } from '../../store/index.ts';
import type { ArtifactPart, ArtifactService } from '../../tools/index.ts';
import { RUN_CONFIG_KEY } from '../../tools/state/run-config-json.ts';
import { truncateResponse } from '../../tools/tool/truncate-response.ts';
import { toToolResponse } from '../../tools/tool/tool-response.ts';
import {
  ANSWER_OPTIONS,
  APPROVE_OPTIONS,
  DENY_OPTIONS,
  EVENTS_OPTIONS,
  FORK_OPTIONS,
  SEND_OPTIONS,
} from './session.ts';
import { forkSession } from '../journal/fork-session.ts';
import type { LogFilter } from '../log/log-cursor.ts';
import { planRewind } from '../journal/plan-rewind.ts';
import { listPendingCalls } from './pending-calls.ts';
import { CallNotPendingError } from './runtime-errors.ts';
import type { EventsOptions, PendingCall, SendOptions, Session } from './session.ts';
import { findCurrentWait } from '../log/find-current-wait.ts';
import { createTurn } from './turn.ts';
import type { SentInput, Turn } from './turn.ts';

/** What a handle needs of its runtime. */
export interface HandleServices {
  readonly store: Store;
  /** Where an answer that is cut is kept whole. */
  readonly artifacts: ArtifactService | undefined;
  /** What a message carries for those who watch its invocation. */
  readonly propagateContext: () => JsonObject | undefined;
  /** Makes an input durable and sees to it that someone takes it. */
  readonly inject: (
    key: SessionKey,
    input: InboxInput,
    dedupeKey: string,
  ) => Promise<InjectReceipt>;
  /** The inputs that were accepted and that no step has consumed, oldest first. */
  readonly unread: (key: SessionKey) => Promise<readonly InboxInput[]>;
  /** The log after `from` and then what happens; of both, what is selected. A selection waits for what an input of ours brings. */
  readonly readLog: (
    key: SessionKey,
    from: Seq | (() => Promise<Seq>),
    options: EventsOptions,
    selection?: LogFilter,
  ) => AsyncIterable<LogEvent | PartialEvent>;
  /** The last committed event, as far as this runtime knows without asking; undefined when it does not host the session. */
  readonly findHosted: (key: SessionKey) =>
    | {
        readonly lastSeq: Seq;
        readonly invocationId: string | undefined;
        readonly isWaiting: boolean;
      }
    | undefined;
  /** How large an input may be, in bytes of JSON. */
  readonly maxInputBytes: number;
  /** Under which name the agent of this name in journals speaks. */
  readonly findAuthorName: (agent: string) => Promise<string>;
  readonly release: (key: SessionKey) => Promise<void>;
  readonly open: (key: SessionKey, agent: string) => Promise<Session>;
}

/** The turn looks for where it began this far back before it reads the whole log. */
const RECENT_EVENTS = 500;

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

  async status(): Promise<SessionRow> {
    const row = await this.#services.store.find(this.key);
    if (row === undefined) throw new SessionNotFoundError(this.key, true);
    return row;
  }

  send(message: string | Content, options: SendOptions = {}): Turn {
    checkOptions(SEND_OPTIONS, options);
    assertInputSize(message, 'message', this.#services.maxInputBytes);
    const content = typeof message === 'string' ? userContent(message) : parseUserContent(message);
    if (content.role !== 'user' || content.parts.length === 0) {
      throw new InvalidInputError('message', 'must have the role "user" and at least one part.');
    }
    const messageId = options.messageId ?? newMessageId();
    const { runConfig } = options;
    const traceContext = this.#services.propagateContext();
    const fullDelta = {
      ...options.stateDelta,
      ...(runConfig !== undefined && { [RUN_CONFIG_KEY]: runConfig }),
      ...(traceContext !== undefined && { [TRACE_CONTEXT_KEY]: traceContext }),
    };
    const stateDelta =
      Object.keys(fullDelta).length === 0 ? {} : { stateDelta: validateStateDelta(fullDelta) };
    const invocationId = deriveInvocationId(messageId);
    return createTurn({
      invocationId,
      sent: this.#sendAfter(async () => ({
        place: userIn,
        value: { messageId, invocationId, content, ...stateDelta },
        dedupeKey: `message:${messageId}`,
      })),
      readLog: (from, selection) => this.#services.readLog(this.key, from, {}, selection),
      begins: (event) => event.type === 'user.message' && event.invocationId === invocationId,
      findBlockingWait: async (from) => {
        const wait = await findCurrentWait(this.#services.store, this.key);
        const isOtherTurn = wait !== undefined && wait.invocationId !== invocationId;
        return isOtherTurn && wait.seq <= from ? wait : undefined;
      },
    });
  }

  events(from: Seq = 0, options: EventsOptions = {}): AsyncIterable<LogEvent | PartialEvent> {
    checkOptions(EVENTS_OPTIONS, options);
    if (!Number.isSafeInteger(from) || from < 0)
      throw new InvalidInputError(
        'from',
        `must be an event's number, or 0 for all; it is ${from}.`,
      );
    return this.#services.readLog(this.key, from, options);
  }

  async pending(): Promise<readonly PendingCall[]> {
    const { store, findAuthorName } = this.#services;
    const { own, called } = await listPendingCalls(store, await this.status(), findAuthorName);
    if (called.length === 0) return own;
    // What is answered here goes on with a turn of this session.
    const invocationId = (await this.#findRunningTurn()) ?? '';
    return [...own, ...called.map((call) => ({ ...call, invocationId }))];
  }

  approve(callId: string, options: { readonly fingerprint?: string } = {}): Turn {
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
          `is not that of call "${callId}": look at its arguments again.`,
        );
      }
      return { callId, decision: 'approved', fingerprint: call.fingerprint };
    });
  }

  deny(callId: string, options: { readonly message?: string } = {}): Turn {
    checkOptions(DENY_OPTIONS, options);
    return this.#answer(callId, () => ({
      callId,
      decision: 'denied',
      ...(options.message !== undefined && { message: options.message }),
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
      // What the tool itself asked for is its own to read, and never shown to a model.
      return call.resumes !== true ? this.#boundAnswer(result, call.name) : result;
    });
  }

  async submitResultEarly(
    callId: string,
    response: Json,
    options: { readonly isError?: boolean } = {},
  ): Promise<InjectReceipt> {
    assertInputSize(response, 'response', this.#services.maxInputBytes);
    const answer = await this.#boundAnswer(toAnswer(callId, response, options.isError));
    const value = this.#validateInput(answerIn.name, answer);
    const question = toAnswerId({ callId, needs: 'result' });
    return this.#services.inject(this.key, { place: answerIn.name, value }, answerKey(question));
  }

  async update(
    callId: string,
    progress: Json,
    { dedupeKey = newMessageId() }: { readonly dedupeKey?: string } = {},
  ): Promise<void> {
    assertInputSize(progress, 'news', this.#services.maxInputBytes);
    const { needs, name, session = this.id } = await this.#pendingCall(callId);
    if (needs !== 'result')
      throw new InvalidInputError(
        'callId',
        `"${callId}" waits for an approval, not for a result: there is nothing to tell.`,
      );
    const { response } = toToolResponse(progress);
    const update = { callId, decision: 'answered' as const, response, isUpdate: true };
    const answer = await this.#boundAnswer(update, name);
    const value = this.#validateInput(answerIn.name, answer);
    await this.#services.inject(
      { ...this.key, sessionId: session },
      { place: answerIn.name, value },
      `update:${callId}:${dedupeKey}`,
    );
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
    return this.#services.inject(
      this.key,
      { place: name, value: checked },
      `signal:${name}:${options.dedupeKey}`,
    );
  }

  /** A message that comes as a signal carries what others do. */
  #withTraceContext(message: unknown): unknown {
    const traceContext = this.#services.propagateContext();
    if (traceContext === undefined || !isJsonObject(message)) return message;
    const { stateDelta } = message;
    const delta = isJsonObject(stateDelta) ? stateDelta : {};
    return { ...message, stateDelta: { ...delta, [TRACE_CONTEXT_KEY]: traceContext } };
  }

  async interrupt(): Promise<void> {
    // Before the turn that runs: a message that begins one meanwhile is in one of the two.
    const next = await this.#findNextTurn();
    const running = await this.#findRunningTurn();
    const invocationId = running ?? next ?? `none:${newMessageId()}`;
    await this.#services.inject(
      this.key,
      { place: interruptIn.name, value: { invocationId } },
      `interrupt:${running ?? newMessageId()}`,
    );
  }

  async fork(options: { readonly id: string; readonly upTo?: Seq }): Promise<Session> {
    checkOptions(FORK_OPTIONS, options);
    const { id, upTo } = options;
    const to = { ...this.key, sessionId: id };
    await forkSession(this.#services.store, {
      from: await this.status(),
      agent: this.#agent,
      to,
      ...(upTo !== undefined && { upTo }),
    });
    return this.#services.open(to, this.agent);
  }

  async rewind({
    beforeInvocationId,
    dedupeKey = newMessageId(),
  }: {
    readonly beforeInvocationId: string;
    readonly dedupeKey?: string;
  }): Promise<void> {
    const rewind = await planRewind(this.#services.store, this.key, beforeInvocationId);
    const value = checkInjection(this.#agent.compiled, rewindIn.name, rewind);
    const { inputSeq } = await this.#services.inject(
      this.key,
      { place: rewindIn.name, value },
      `rewind:${dedupeKey}`,
    );
    await this.#waitUntilConsumed(inputSeq);
  }

  async close(): Promise<void> {
    await this.#services.release(this.key);
  }

  /** The answer, cut to what the result of its tool may have. */
  async #boundAnswer(
    answer: Answer & { readonly response: JsonObject },
    toolName?: string,
  ): Promise<Answer> {
    const { tools, maxResultCharacters } = this.#agent;
    const { artifacts } = this.#services;
    const { callId } = answer;
    const save = async (name: string, part: ArtifactPart): Promise<unknown> => {
      const saveId = `${callId}/answer/${sha256Hex(encodeJson(part, 'part'))}`;
      const session = { ...this.key, sessionId: rootSessionId(this.id) };
      return artifacts?.save({ session, name }, part, { saveId });
    };
    const limits = { tools, ...(maxResultCharacters !== undefined && { maxResultCharacters }) };
    return truncateResponse(
      answer,
      resultLimit(limits, toolName, {
        callId,
        ...(artifacts !== undefined && { save }),
      }),
    );
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
        ...(call.session !== undefined && { session: call.session }),
      };
    });
    return createTurn({
      get invocationId() {
        return invocationId;
      },
      sent,
      readLog: (from, selection) => this.#services.readLog(this.key, from, {}, selection),
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

  /** Sends what `input` says, and remembers where the log was before. */
  async #sendAfter(
    input: () => Promise<{
      readonly place: AnyPlace;
      readonly value: unknown;
      readonly dedupeKey: string;
      /** The session of a called agent that it is for; this one when missing. */
      readonly session?: string;
    }>,
  ): Promise<SentInput> {
    const { from, whileWaiting } = await this.#readLogPosition();
    const { place, value, dedupeKey, session = this.id } = await input();
    const checked = this.#validateInput(place.name, value);
    const { inputSeq, duplicate } = await this.#services.inject(
      { ...this.key, sessionId: session },
      { place: place.name, value: checked },
      dedupeKey,
    );
    if (!duplicate) return { inputSeq, from, whileWaiting };
    return { inputSeq, from: (await this.#findSeqBeforeFirst(value)) ?? from, whileWaiting };
  }

  async #readLogPosition(): Promise<Pick<SentInput, 'from' | 'whileWaiting'>> {
    const hosted = this.#services.findHosted(this.key);
    if (hosted !== undefined) return { from: hosted.lastSeq, whileWaiting: hosted.isWaiting };
    const { lastSeq, status } = await this.status();
    return { from: lastSeq, whileWaiting: status === 'waiting' };
  }

  /** Where the log was before the first event of an input that was sent before; undefined when it has none yet. */
  async #findSeqBeforeFirst(value: unknown): Promise<Seq | undefined> {
    if (!isJsonObject(value)) return 0;
    const { invocationId } = value;
    if (typeof invocationId !== 'string') return 0;
    for await (const event of this.#services.store.read(this.key, 0))
      if ('invocationId' in event && event.invocationId === invocationId) return event.seq - 1;
    return undefined;
  }

  async #findRunningTurn(): Promise<string | undefined> {
    const { lastSeq, status } = await this.status();
    const hosted = this.#services.findHosted(this.key);
    // Another runtime may have gone on with it since.
    if (hosted !== undefined && hosted.lastSeq >= lastSeq) return hosted.invocationId;
    if (status === 'idle') return undefined;
    let turn: string | undefined;
    for (const from of [Math.max(0, lastSeq - RECENT_EVENTS), 0]) {
      for await (const event of this.#services.store.read(this.key, from)) {
        if (event.type === 'turn.started') turn = event.invocationId;
      }
      if (turn !== undefined) return turn;
    }
    return undefined;
  }

  /** The turn of the oldest message that was accepted and has not begun. */
  async #findNextTurn(): Promise<string | undefined> {
    for (const { place, value } of await this.#services.unread(this.key)) {
      if (place !== userIn.name || !isJsonObject(value)) continue;
      const { invocationId } = value;
      if (typeof invocationId === 'string') return invocationId;
    }
    return undefined;
  }

  /** Resolves when the session has consumed this input. */
  async #waitUntilConsumed(inputSeq: number): Promise<void> {
    const { store, readLog } = this.#services;
    const { lastSeq } = await this.status();
    const consumed = async (): Promise<boolean> =>
      (await store.inbox(this.key, inputSeq - 1))[0]?.inputSeq !== inputSeq;
    if (await consumed()) return;
    for await (const event of readLog(this.key, lastSeq, {})) {
      if ('seq' in event && (await consumed())) return;
    }
  }
}

/** A message that comes as a signal says what others may say. @throws InvalidInputError */
function parseSignalMessage(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('content' in value)) return value;
  return { ...value, content: parseUserContent(value.content) };
}

function toAnswer(
  callId: string,
  returned: Json,
  isError: boolean = false,
): Answer & { readonly response: JsonObject } {
  const { outcome, response } = toToolResponse(returned);
  return { callId, decision: 'answered', response, isError: isError || outcome === 'error' };
}

/** Names what is asked of someone: a call may need a yes, then a result, and another yes after a crash. Each has one answer. */
function toAnswerId({
  callId,
  needs,
  asks,
}: Pick<PendingCall, 'callId' | 'needs' | 'asks'>): string {
  const question = needs === 'result' ? `${callId}:result` : callId;
  return asks === undefined ? question : `${question}#${asks}`;
}
