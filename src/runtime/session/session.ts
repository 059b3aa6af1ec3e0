import { optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type {
  Content,
  InvocationId,
  Json,
  JsonObject,
  LogEvent,
  PartialEvent,
  Seq,
  SessionKey,
  StateDelta,
} from '../../core/index.ts';
import type { AnyPlace, RecordSeq } from '../../net/index.ts';
import type {
  InjectReceipt,
  StoredPendingCall as StoredCall,
  SessionRow,
} from '../../store/index.ts';
import type { ClientTool, InferArgs, RunConfigJson, ToolParameters } from '../../tools/index.ts';
import type { AppendOptions, AppendReceipt, EventToAppend } from './append-event.ts';
import type { OutcomeDefinition } from '../../agents/index.ts';
import type { DefineOutcomeOptions, OutcomeReceipt } from './define-outcome.ts';
import type { SessionInspection } from '../inspection/session-inspection.ts';
import type { Turn } from './turn.ts';

/** A call that waits for an approval or a result. */
export interface PendingCall extends StoredCall {
  /** The same as `callId`. */
  readonly id: string;
}

/** The options of `session.send`. They are journaled with the message. */
export interface SendOptions {
  /** Idempotency key: a message with the id of an earlier one is not sent again. Default: random. */
  readonly messageId?: string;
  /** State changes that are written before the turn begins. */
  readonly stateDelta?: StateDelta;
  /** Available to the tools of this invocation; removed when the invocation ends. */
  readonly runConfig?: RunConfigJson;
  /** Custom metadata. Tools, callbacks and interceptors of this invocation read it; no model sees it. Default: none. */
  readonly metadata?: JsonObject;
  /**
   * Tools of the sender. The model is offered them in this turn, and a call of one waits until it is answered with
   * `answer`. Agents that the agent calls are not offered them. Default: none.
   */
  readonly clientTools?: readonly ClientTool[];
  /**
   * The schema of the answer: of zod, valibot or arktype, or a JSON Schema of an object. The model is asked for JSON of
   * this schema for this message, instead of the agent's own `config.responseSchema`. Agents that it calls as tools are
   * not. `ask` parses and checks the answer; a reader of the turn gets it as text. Default: text.
   */
  readonly output?: ToolParameters;
}

/** The options of `session.ask` with a schema of the answer. */
export interface AskOptions<S extends ToolParameters> extends SendOptions {
  readonly output: S;
}

/** The user and the agent of a session. A session keeps its agent; another one is refused with AgentMismatchError. */
export interface SessionOptions {
  /** Default: `default`. */
  readonly user?: string;
  /** The agent's name. Optional when the session exists, or when the runtime has one agent. */
  readonly agent?: string;
}

/** The options of `session.events`. */
export interface EventsOptions {
  /** True: waits for more events at the end of the log. False: ends there. Default: true. */
  readonly follow?: boolean;
  /** Aborting it ends the iteration. */
  readonly signal?: AbortSignal;
}

/** The options of `runtime.session`. */
export const SESSION_OPTIONS: OptionTable = optionTable<SessionOptions>(
  'session',
  { user: true, agent: true },
  { userId: 'user', agentName: 'agent' },
);

/** Names that other libraries use for the options of a message. */
const OTHER_MESSAGE_NAMES = {
  dedupeKey: 'messageId',
  state: 'stateDelta',
  schema: 'output',
  responseSchema: 'output',
  outputSchema: 'output',
};

/** The options of `session.send`. */
export const SEND_OPTIONS: OptionTable = optionTable<SendOptions>(
  'send',
  {
    messageId: true,
    stateDelta: true,
    runConfig: true,
    metadata: true,
    clientTools: true,
    output: true,
  },
  OTHER_MESSAGE_NAMES,
);

/** The options of `session.ask`. */
export const ASK_OPTIONS: OptionTable = optionTable<AskOptions<ToolParameters>>(
  'ask',
  {
    messageId: true,
    stateDelta: true,
    runConfig: true,
    metadata: true,
    clientTools: true,
    output: true,
  },
  OTHER_MESSAGE_NAMES,
);

/** The options of `session.events`. */
export const EVENTS_OPTIONS: OptionTable = optionTable<EventsOptions>('events', {
  follow: true,
  signal: true,
});

/** The options of `session.approve`. */
export const APPROVE_OPTIONS: OptionTable = optionTable<{
  readonly fingerprint?: string | undefined;
}>('approve', { fingerprint: true });

/** The options of `session.deny`. */
export const DENY_OPTIONS: OptionTable = optionTable<{ readonly message?: string | undefined }>(
  'deny',
  { message: true },
  { reason: 'message', denyMessage: 'message' },
);

/** The options of `session.answer`. */
export const ANSWER_OPTIONS: OptionTable = optionTable<{ readonly isError?: boolean }>(
  'answer',
  { isError: true },
  { is_error: 'isError', error: 'isError' },
);

/** Where a fork cuts, and the id of the copy. */
export interface SessionForkOptions {
  readonly id: string;
  /** The last event that the copy has. It must end a step. Default: the last event. */
  readonly upTo?: Seq;
  /** Instead of `upTo`: the copy has the steps that end at this record of the journal or before. */
  readonly atRecord?: RecordSeq;
}

/** The options of `session.fork`. */
export const FORK_OPTIONS: OptionTable = optionTable<SessionForkOptions>(
  'fork',
  { id: true, upTo: true, atRecord: true },
  { upToSeq: 'upTo', at_record: 'atRecord', sessionId: 'id' },
);

/** Which turn an interrupt stops. */
export interface InterruptOptions {
  /** Only the turn of this invocation. Default: the current one. */
  readonly invocationId?: InvocationId;
}

/** The options of `session.interrupt`. */
export const INTERRUPT_OPTIONS: OptionTable = optionTable<InterruptOptions>('interrupt', {
  invocationId: true,
});

/** A handle to a session. It holds no state, so there may be any number of handles to a session, in any process. */
export interface Session extends SessionInspection {
  readonly id: string;
  readonly key: SessionKey;
  readonly agent: string;

  /** Reads the session's row: status, pending calls, times of creation and last change. @throws SessionNotFoundError, RuntimeClosedError */
  status(): Promise<SessionRow>;

  /**
   * Sends a message. It starts a turn, after the turns of earlier messages. The turn rejects with IllegalTransitionError
   * when the session is completed or archived, also if that happens before the turn starts.
   * @throws InvalidInputError, InputTooLargeError
   */
  send(message: string | Content, options?: SendOptions): Turn;

  /**
   * Sends a message and resolves with the text of the agent's final answer, or with a value of the `output` schema. The
   * turn is a turn like any other: it goes on if the caller stops waiting. Asking again with the same `messageId`, in
   * any process, gives the answer of the same turn.
   * @throws TurnNotCompletedError when the turn waits for an approval or a result, was interrupted, reached a limit, or
   * failed
   * @throws InvalidOutputError when the answer does not match `output`
   * @throws IllegalTransitionError when the session is completed or archived before the turn starts
   * @throws InvalidInputError, InputTooLargeError, RuntimeClosedError
   * @example
   * const invoice = await session.ask('Read the invoice.', { output: z.object({ total: z.number() }) });
   */
  ask(
    message: string | Content,
    options?: SendOptions & { readonly output?: undefined },
  ): Promise<string>;
  ask<S extends ToolParameters>(
    message: string | Content,
    options: AskOptions<S>,
  ): Promise<InferArgs<S>>;

  /**
   * Reads the log events after `from`, then follows new ones and partials. No log event is skipped or repeated.
   * @param from the last event you have. Default: 0.
   * @throws InvalidInputError, RuntimeClosedError
   */
  events(from?: Seq, options?: EventsOptions): AsyncIterable<LogEvent | PartialEvent>;

  /** Lists the calls that wait for an approval or a result, in this session and in those of agents that it called. */
  pending(): Promise<readonly PendingCall[]>;

  /**
   * Approves a pending call, which then runs once. With a fingerprint, only if the call is unchanged since it was
   * shown. The turn's `accepted` rejects with AlreadyAnsweredError, CallNotPendingError or InvalidInputError; in a
   * completed or archived session with IllegalTransitionError, unless the call has an answer.
   */
  approve(callId: string, options?: { readonly fingerprint?: string | undefined }): Turn;

  /** Denies a pending call. The model gets the message. `accepted` rejects as in `approve`. */
  deny(callId: string, options?: { readonly message?: string | undefined }): Turn;

  /**
   * Submits the result of a pending call that is answered from outside. A later result of a long-running tool in ADK's
   * format starts a turn. `accepted` rejects as in `approve`.
   * @throws NotSerializableError, InputTooLargeError; the call stays pending
   */
  answer(callId: string, response: Json, options?: { readonly isError?: boolean }): Turn;

  /**
   * Submits the result of a call that may not be pending yet. The result is used when the call becomes pending, and is
   * dropped when the next turn begins.
   * @throws AlreadyAnsweredError, NotSerializableError, InputTooLargeError
   * @throws IllegalTransitionError when the session is completed or archived
   */
  submitResultEarly(
    callId: string,
    response: Json,
    options?: { readonly isError?: boolean },
  ): Promise<InjectReceipt>;

  /**
   * Reports progress of a call that waits for its result. The call stays pending. A repeated `dedupeKey` is ignored.
   * @throws AlreadyAnsweredError, CallNotPendingError, InvalidInputError, NotSerializableError, InputTooLargeError
   * @throws IllegalTransitionError when the session is completed or archived
   */
  update(callId: string, progress: Json, options?: { readonly dedupeKey?: string }): Promise<void>;

  /**
   * Adds an event from outside of any turn to the log: a message of somebody else, the result of another system, a change
   * of state. It starts no turn. The log and the state have it at once, the conversation when no turn runs. Resolves when
   * the event is durable.
   * @throws InvalidInputError, UnknownFieldError, InvalidStateKeyError, NotSerializableError, InputTooLargeError
   * @throws IllegalTransitionError when the session is completed or archived
   * @throws RuntimeClosedError
   * @example
   * await session.append({ author: 'crm', content: 'The customer has paid.', stateDelta: { paid: true } });
   */
  append(event: EventToAppend, options?: AppendOptions): Promise<AppendReceipt>;

  /**
   * Sets a goal for the agent. A turn that would end is judged first. If the grader asks for a revision, the turn
   * continues with its explanation. A `description` starts work, after the messages that were sent before; `criteria`
   * apply from the next message on. The turns of earlier messages are not judged.
   * Resolves when the outcome is durable.
   * @throws OutcomesNotEnabledError when the agent was created without the option `outcomes`
   * @throws InvalidInputError, UnknownFieldError, InputTooLargeError, RuntimeClosedError
   * @throws IllegalTransitionError when the session is completed or archived
   * @example
   * await session.defineOutcome({ description: 'A story of two pages.', rubric: 'It has a title.' });
   */
  defineOutcome(
    definition: OutcomeDefinition,
    options?: DefineOutcomeOptions,
  ): Promise<OutcomeReceipt>;

  /**
   * Puts a token into an input place of the session's net. A repeated `dedupeKey` is ignored. The place may have its
   * current name, or one of its former names.
   * @throws UnknownPlaceError, TokenSchemaError, InputTooLargeError
   * @throws IllegalTransitionError when the session is completed or archived
   */
  inject(
    place: string | AnyPlace,
    value: unknown,
    options: { readonly dedupeKey: string },
  ): Promise<InjectReceipt>;

  /**
   * Stops the running turn, or that of the message that waits. If there is neither, nothing is stopped, and the log has
   * a `turn.ended` of no turn. With `invocationId` only that turn is stopped, and otherwise nothing happens: use it
   * where the turn may end, and the next begin, before the request arrives. The session stays usable. Resolves when the
   * request is durable.
   * @throws IllegalTransitionError when the session is completed or archived
   * @throws SessionNotFoundError, RuntimeClosedError
   */
  interrupt(options?: InterruptOptions): Promise<void>;

  /**
   * Creates a session with a copy of this session's events up to `upTo`, and the state at that event.
   * @throws InvalidInputError when the id is taken, `upTo` is not at a step boundary, there is no record `atRecord`, or both are given
   */
  fork(options: SessionForkOptions): Promise<Session>;

  /**
   * Pauses the session: no turn, model call or tool starts until a resume. What runs finishes, and its result is kept.
   * Messages that are sent meanwhile wait. The pause is durable. Resolves when the session is paused.
   * @throws IllegalTransitionError when the session is paused, failed, completed or archived
   * @throws SessionNotFoundError, SessionQuarantinedError
   * @throws RuntimeClosedError when the runtime is closed before the session is paused: the request is kept
   */
  pause(): Promise<void>;

  /**
   * Continues a paused session where it was. Repeats the model call of a failed turn, if the agent has no sub-agents.
   * Resolves when the session has resumed.
   * @throws IllegalTransitionError when the session is neither paused nor failed, or when the agent cannot repeat the
   * call: then send the next message
   * @throws RuntimeClosedError when the runtime is closed before that: the request is kept
   */
  resume(): Promise<void>;

  /**
   * Completes an idle session: it takes no more messages. It can be read, forked and archived. Messages that wait start
   * no turn. Resolves when the session is completed.
   * @throws IllegalTransitionError when the session is not idle
   * @throws RuntimeClosedError when the runtime is closed before that: the request is kept
   */
  complete(): Promise<void>;

  /**
   * Stops the running turn and closes the session permanently. It can be read and forked. Messages that wait start no
   * turn. Resolves when the session is archived.
   * @throws IllegalTransitionError when the session is archived
   * @throws RuntimeClosedError when the runtime is closed before that: the request is kept
   */
  archive(): Promise<void>;

  /**
   * Restores the conversation and the session state from before an invocation. A repeated `dedupeKey` is ignored. The
   * log keeps every event and records the rewind.
   * @throws InvalidInputError when there is no such invocation, or the conversation was compacted or rewound since
   * @throws IllegalTransitionError when the session is queued, rescheduling, paused, completed or archived
   */
  rewind(options: {
    readonly beforeInvocationId: string;
    readonly dedupeKey?: string;
  }): Promise<void>;

  /**
   * Stops hosting the session in this runtime: aborts its effects and commits their steps. Any runtime can resume it.
   */
  close(): Promise<void>;
}
