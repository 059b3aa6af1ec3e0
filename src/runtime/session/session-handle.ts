import { checkOptions, InvalidInputError } from '../../core/index.ts';
import type { Content, Json, LogEvent, PartialEvent, Seq, SessionKey } from '../../core/index.ts';
import type { Agent, OutcomeDefinition } from '../../agents/index.ts';
import type { AnyPlace, RecordSeq } from '../../net/index.ts';
import type { InjectReceipt, SessionRow } from '../../store/index.ts';
import type { InferArgs, ToolParameters } from '../../tools/index.ts';
import type { SessionInspection } from '../inspection/session-inspection.ts';
import type { AppendOptions, AppendReceipt, EventToAppend } from './append-event.ts';
import { CallAnswers } from './call-answers.ts';
import type { DefineOutcomeOptions, OutcomeReceipt } from './define-outcome.ts';
import type { HandleServices } from './handle-services.ts';
import { MessageSender } from './message-sender.ts';
import { RuntimeClosedError } from './runtime-errors.ts';
import {
  ANSWER_OPTIONS,
  APPROVE_OPTIONS,
  ASK_OPTIONS,
  DENY_OPTIONS,
  EVENTS_OPTIONS,
  FORK_OPTIONS,
  INTERRUPT_OPTIONS,
  SEND_OPTIONS,
} from './session.ts';
import type {
  AskOptions,
  EventsOptions,
  PendingCall,
  SendOptions,
  Session,
  InterruptOptions,
  SessionForkOptions,
} from './session.ts';
import { SessionAccess } from './session-access.ts';
import { SessionHistory } from './session-history.ts';
import { SignalSender } from './signal-sender.ts';
import type { Turn } from './turn.ts';

/** A handle to a session: it checks options, and each part does the verbs of one area. */
export class SessionHandle implements Session {
  readonly id: string;
  readonly key: SessionKey;
  readonly agent: string;
  readonly #access: SessionAccess;

  constructor(key: SessionKey, agent: Agent, services: HandleServices) {
    this.id = key.sessionId;
    this.key = key;
    this.agent = agent.name;
    this.#access = new SessionAccess(key, agent, services);
  }

  // The parts have no state. A program may hold a handle of each of many idle sessions, so a handle does not keep them.
  get #messages(): MessageSender {
    return new MessageSender(this.#access, async () => this.pending());
  }

  get #calls(): CallAnswers {
    return new CallAnswers(this.#access);
  }

  get #signals(): SignalSender {
    return new SignalSender(this.#access);
  }

  get #history(): SessionHistory {
    return new SessionHistory(this.#access);
  }

  async status(): Promise<SessionRow> {
    return this.#access.readRow();
  }

  send(message: string | Content, options: SendOptions = {}): Turn {
    checkOptions(SEND_OPTIONS, options);
    return this.#messages.send(message, options);
  }

  async ask(
    message: string | Content,
    options?: SendOptions & { readonly output?: undefined },
  ): Promise<string>;
  async ask<S extends ToolParameters>(
    message: string | Content,
    options: AskOptions<S>,
  ): Promise<InferArgs<S>>;
  async ask<S extends ToolParameters>(
    message: string | Content,
    options: SendOptions & { readonly output?: S } = {},
  ): Promise<string | InferArgs<S>> {
    checkOptions(ASK_OPTIONS, options);
    const { output } = options;
    return output === undefined
      ? this.#messages.send(message, options).text()
      : this.#messages.ask(message, options, output);
  }

  events(from: Seq = 0, options: EventsOptions = {}): AsyncIterable<LogEvent | PartialEvent> {
    checkOptions(EVENTS_OPTIONS, options);
    const { services } = this.#access;
    if (services.isClosed()) throw new RuntimeClosedError();
    if (!Number.isSafeInteger(from) || from < 0)
      throw new InvalidInputError(
        'from',
        `must be an event number, or 0 for all events; it is ${from}.`,
      );
    return services.readLog(this.key, from, options);
  }

  async pending(): Promise<readonly PendingCall[]> {
    return this.#calls.list();
  }

  approve(callId: string, options: { readonly fingerprint?: string | undefined } = {}): Turn {
    checkOptions(APPROVE_OPTIONS, options);
    return this.#calls.approve(callId, options.fingerprint);
  }

  deny(callId: string, options: { readonly message?: string | undefined } = {}): Turn {
    checkOptions(DENY_OPTIONS, options);
    return this.#calls.deny(callId, options.message);
  }

  answer(callId: string, response: Json, options: { readonly isError?: boolean } = {}): Turn {
    checkOptions(ANSWER_OPTIONS, options);
    return this.#calls.answer(callId, response, options.isError);
  }

  async submitResultEarly(
    callId: string,
    response: Json,
    options: { readonly isError?: boolean } = {},
  ): Promise<InjectReceipt> {
    return this.#calls.submitEarly(callId, response, options.isError);
  }

  async update(
    callId: string,
    progress: Json,
    options: { readonly dedupeKey?: string } = {},
  ): Promise<void> {
    await this.#calls.update(callId, progress, options.dedupeKey);
  }

  async append(event: EventToAppend, options: AppendOptions = {}): Promise<AppendReceipt> {
    return this.#signals.append(event, options);
  }

  async defineOutcome(
    definition: OutcomeDefinition,
    options: DefineOutcomeOptions = {},
  ): Promise<OutcomeReceipt> {
    return this.#signals.defineOutcome(definition, options);
  }

  async inject(
    place: string | AnyPlace,
    value: unknown,
    options: { readonly dedupeKey: string },
  ): Promise<InjectReceipt> {
    return this.#signals.inject(place, value, options.dedupeKey);
  }

  async interrupt(options: InterruptOptions = {}): Promise<void> {
    checkOptions(INTERRUPT_OPTIONS, options);
    await this.#signals.interrupt(options.invocationId);
  }

  async fork(options: SessionForkOptions): Promise<Session> {
    checkOptions(FORK_OPTIONS, options);
    return this.#history.fork(options);
  }

  async pause(): Promise<void> {
    await this.#access.control.change('pause');
  }

  async resume(): Promise<void> {
    await this.#access.control.change('resume');
  }

  async complete(): Promise<void> {
    await this.#access.control.change('complete');
  }

  async archive(): Promise<void> {
    await this.#access.control.change('archive');
  }

  async rewind(options: {
    readonly beforeInvocationId: string;
    readonly dedupeKey?: string;
  }): Promise<void> {
    await this.#history.rewind(options.beforeInvocationId, options.dedupeKey);
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

  async net(...args: Parameters<SessionInspection['net']>): ReturnType<SessionInspection['net']> {
    return this.#inspection.net(...args);
  }

  async modelRequest(firing: RecordSeq): ReturnType<SessionInspection['modelRequest']> {
    return this.#inspection.modelRequest(firing);
  }

  forkPoints(after?: Seq): ReturnType<SessionInspection['forkPoints']> {
    return this.#inspection.forkPoints(after);
  }

  async close(): Promise<void> {
    await this.#access.services.release(this.key);
  }

  get #inspection(): SessionInspection {
    return this.#access.services.inspect(this.key, this.#access.agent);
  }
}
