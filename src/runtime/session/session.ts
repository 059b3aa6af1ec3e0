import { optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type {
  Content,
  Json,
  LogEvent,
  PartialEvent,
  Seq,
  SessionKey,
  StateDelta,
} from '../../core/index.ts';
import type { AnyPlace } from '../../net/index.ts';
import type {
  InjectReceipt,
  StoredPendingCall as StoredCall,
  SessionRow,
} from '../../store/index.ts';
import type { RunConfigJson } from '../../tools/index.ts';
import type { Turn } from './turn.ts';

/** A call that waits for someone. */
export interface PendingCall extends StoredCall {
  /** The same as `callId`. */
  readonly id: string;
}

/** What is journaled with a message beside its content. */
export interface SendOptions {
  /** Sent twice, a message counts once. Random unless given. */
  readonly messageId?: string;
  /** State to write before the turn begins. */
  readonly stateDelta?: StateDelta;
  /** Told to the tools that run for this message. Journaled, and forgotten when its invocation ends. */
  readonly runConfig?: RunConfigJson;
}

/**
 * Whose session it is, and which agent it begins with. It keeps that agent: another is refused with
 * AgentMismatchError.
 */
export interface SessionOptions {
  /** Default: `default`. */
  readonly user?: string;
  /** The agent's name; may be left out when the runtime has one agent, or the session exists. */
  readonly agent?: string;
}

/** When reading a session's log ends. */
export interface EventsOptions {
  /** Waits for more at the end of the log; true unless said. */
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** The options of `runtime.session`. */
export const SESSION_OPTIONS: OptionTable = optionTable<SessionOptions>(
  'session',
  { user: true, agent: true },
  { userId: 'user', agentName: 'agent' },
);

/** The options of `session.send`. */
export const SEND_OPTIONS: OptionTable = optionTable<SendOptions>(
  'send',
  { messageId: true, stateDelta: true, runConfig: true },
  { dedupeKey: 'messageId', state: 'stateDelta' },
);

/** The options of `session.events`. */
export const EVENTS_OPTIONS: OptionTable = optionTable<EventsOptions>('events', {
  follow: true,
  signal: true,
});

/** The options of `session.approve`. */
export const APPROVE_OPTIONS: OptionTable = optionTable<{ readonly fingerprint?: string }>(
  'approve',
  { fingerprint: true },
);

/** The options of `session.deny`. */
export const DENY_OPTIONS: OptionTable = optionTable<{ readonly message?: string }>(
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

/** The options of `session.fork`. */
export const FORK_OPTIONS: OptionTable = optionTable<{ readonly id: string; readonly upTo?: Seq }>(
  'fork',
  { id: true, upTo: true },
  { upToSeq: 'upTo', sessionId: 'id' },
);

/** A session, by its id: holds nothing, and can be made as often as you like, in any process. */
export interface Session {
  readonly id: string;
  readonly key: SessionKey;
  readonly agent: string;

  /** The session's row: status, what it waits for, when it was made and last changed. */
  status(): Promise<SessionRow>;

  /** Puts a message into the session at once. It starts a turn now, or after those before it. @throws InvalidInputError */
  send(message: string | Content, options?: SendOptions): Turn;

  /** Log events after `from` (0 unless given), then what happens, without a gap or a repetition; partials among them. */
  events(from?: Seq, options?: EventsOptions): AsyncIterable<LogEvent | PartialEvent>;

  /** The calls that wait for an approval or a result. */
  pending(): Promise<readonly PendingCall[]>;

  /**
   * Lets a waiting call run, once. Given a fingerprint, only if the call still is what was shown.
   * The turn's `accepted` rejects with AlreadyAnsweredError or CallNotPendingError.
   */
  approve(callId: string, options?: { readonly fingerprint?: string }): Turn;

  /** Refuses a waiting call; the model is told, with the message. */
  deny(callId: string, options?: { readonly message?: string }): Turn;

  /** Gives the result of a call that is answered from outside. */
  answer(callId: string, response: Json, options?: { readonly isError?: boolean }): Turn;

  /**
   * Gives the result of a call that may still be on its way: it counts when the call comes and waits for a result, and
   * is dropped when the next turn begins. @throws AlreadyAnsweredError
   */
  submitResultEarly(
    callId: string,
    response: Json,
    options?: { readonly isError?: boolean },
  ): Promise<InjectReceipt>;

  /**
   * Tells what is known so far of a call that waits for its result: it goes on waiting. Counts once per `dedupeKey`.
   * @throws AlreadyAnsweredError, CallNotPendingError
   */
  update(callId: string, progress: Json, options?: { readonly dedupeKey?: string }): Promise<void>;

  /** Puts a typed signal into the session's net, once per `dedupeKey`. @throws UnknownPlaceError, TokenSchemaError */
  inject(
    place: string | AnyPlace,
    value: unknown,
    options: { readonly dedupeKey: string },
  ): Promise<InjectReceipt>;

  /** Stops the turn that runs, if one does; the session lives on. Resolves when the wish is durable. */
  interrupt(): Promise<void>;

  /** A new session that begins with this one's first `upTo` events (all unless given) and the state of that moment. */
  fork(options: { readonly id: string; readonly upTo?: Seq }): Promise<Session>;

  /**
   * Takes conversation and session state back to before an invocation, once per `dedupeKey`. The log keeps everything
   * and says so.
   */
  rewind(options: {
    readonly beforeInvocationId: string;
    readonly dedupeKey?: string;
  }): Promise<void>;

  /** Lets this runtime let go of the session, cleanly: what runs is stopped, and another runtime may go on. */
  close(): Promise<void>;
}
