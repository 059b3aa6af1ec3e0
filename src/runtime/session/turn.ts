import type {
  LogEvent,
  LogEventByType,
  PartialEvent,
  Seq,
  SessionStatus,
} from '../../core/index.ts';
import { readAnswer, TurnNotCompletedError } from '../../core/internal.ts';
import type { WaitingCall } from '../../core/internal.ts';
import type { InjectReceipt, InputSeq } from '../../store/index.ts';
import type { LogFilter } from '../log/log-cursor.ts';
import { IllegalTransitionError } from './illegal-transition-error.ts';
import { RuntimeClosedError } from './runtime-errors.ts';
import { TurnReader } from './turn-reader.ts';

/**
 * The events of one message or answer. The turn runs whether it is iterated or not, and leaving the loop cancels
 * nothing. Iteration ends when the turn ends or waits for an approval or a result. While another turn of the session
 * waits, iteration yields that turn's `turn.waiting`, which lists its calls, and ends. The input is kept, and takes
 * effect when the other turn ends.
 */
export interface Turn extends AsyncIterable<LogEvent | PartialEvent> {
  readonly invocationId: string;
  /**
   * Resolves when the input is durable, with its number in the inbox. Rejects when the input was refused and not
   * stored. When a closed runtime refused it and the program neither reads `accepted` nor iterates the turn, the process
   * prints a warning with the code `PETRICHOR_INPUT_REFUSED`.
   */
  readonly accepted: Promise<InputSeq>;
  /** As `accepted`, and whether the input had been sent before: then nothing was added. */
  readonly receipt: Promise<InjectReceipt>;
  /**
   * Reads the turn to its end and returns the text of the agent's last message. A wait that was answered since counts
   * as over. It rejects as `accepted` does when the input was refused.
   * @throws TurnNotCompletedError when the turn waits, was interrupted, reached a limit, or failed
   * @throws RuntimeClosedError when the runtime is closed before the turn ends
   */
  readonly text: () => Promise<string>;
}

/** An input that was sent, and the log position from which its events can be read. */
export interface SentInput {
  readonly inputSeq: InputSeq;
  /** True when it had been sent before. Nothing was added. */
  readonly duplicate: boolean;
  readonly from: Seq;
  /** True when a turn waited for an answer at the time. */
  readonly wasWaiting: boolean;
}

export interface TurnOptions {
  /** The session's id. */
  readonly session: string;
  /** Defined once the input is accepted, or earlier. */
  readonly invocationId: string;
  readonly sent: Promise<SentInput>;
  /** Reads the filtered log after `from`, and follows it. Undefined: reads nothing. */
  readonly readLog: (
    from: () => Promise<Seq | undefined>,
    filter: LogFilter,
  ) => AsyncIterable<LogEvent | PartialEvent>;
  /** True for the first event of this input. Iteration begins with it. */
  readonly begins: (event: LogEvent) => boolean;
  /** Finds the wait of another turn that this input is queued behind. Called only if a turn waited when it was sent. */
  readonly findBlockingWait?: (from: Seq) => Promise<LogEvent | undefined>;
  /** Finds the current wait of the session. Undefined when no turn waits, or its answer is on the way. */
  readonly findWait: () => Promise<LogEventByType<'turn.waiting'> | undefined>;
  readonly listPending: () => Promise<readonly WaitingCall[]>;
}

export function createTurn(options: TurnOptions): Turn {
  return new SentTurn(options);
}

/** A class, because V8 keeps the accessors of an object literal until the next full garbage collection. */
class SentTurn implements Turn {
  readonly #options: TurnOptions;
  readonly #accepted: Promise<InputSeq>;
  #isObserved = false;

  constructor(options: TurnOptions) {
    this.#options = options;
    this.#accepted = options.sent.then(({ inputSeq }) => inputSeq);
    this.#accepted.catch((error: unknown) => {
      // A caller that neither awaits nor iterates ignores every other error on purpose.
      if (!this.#isObserved && error instanceof RuntimeClosedError)
        warnRefused(options.session, error);
    });
  }

  get invocationId(): string {
    return this.#options.invocationId;
  }

  get accepted(): Promise<InputSeq> {
    this.#isObserved = true;
    return this.#accepted;
  }

  get receipt(): Promise<InjectReceipt> {
    this.#isObserved = true;
    return this.#options.sent.then(({ inputSeq, duplicate }) => ({ inputSeq, duplicate }));
  }

  [Symbol.asyncIterator](): AsyncIterator<LogEvent | PartialEvent> {
    this.#isObserved = true;
    return turnEvents(this.#options);
  }

  readonly text = async (): Promise<string> => {
    this.#isObserved = true;
    return readText(this.#options);
  };
}

function warnRefused(session: string, { message }: RuntimeClosedError): void {
  globalThis.process?.emitWarning(
    `An input of session "${session}" was refused and not stored: ${message}`,
    {
      /**
       * A closed runtime refused an input, and the program did not look at its turn. It is the code of a process
       * warning.
       * @remedy Send the input before you close the runtime, or await `accepted` of its turn.
       */
      code: 'PETRICHOR_INPUT_REFUSED',
    },
  );
}

async function* turnEvents(options: TurnOptions): AsyncGenerator<LogEvent | PartialEvent> {
  let start: Promise<Pick<SentInput, 'from' | 'wasWaiting'>> = options.sent;
  for (;;) {
    let wait: LogEvent | undefined;
    // Reading begins before the input is accepted: its turn may then run already.
    const findStart = async (): Promise<Seq | undefined> => {
      const { from, wasWaiting } = await start;
      wait = wasWaiting ? await options.findBlockingWait?.(from) : undefined;
      return wait === undefined ? from : undefined;
    };
    const refusedAt = yield* readTurnLog(options, findStart, false);
    if (wait !== undefined) yield wait;
    if (refusedAt === undefined) return;
    // An answer to the earlier turn was refused, so that turn may still wait.
    start = Promise.resolve({ from: refusedAt, wasWaiting: true });
  }
}

/**
 * Reads the events of a turn after `from`, up to its end or a wait.
 * @returns the event with which the earlier turn refused an answer, if the log was read up to there for that reason
 * @throws IllegalTransitionError when the session was completed or archived before the turn began
 */
async function* readTurnLog(
  options: TurnOptions,
  from: () => Promise<Seq | undefined>,
  hasBegun: boolean,
): AsyncGenerator<LogEvent | PartialEvent, Seq | undefined> {
  const filter = createTurnFilter(options, hasBegun);
  yield* options.readLog(from, filter);
  const closedAs = filter.closedAs();
  if (closedAs !== undefined)
    throw new IllegalTransitionError(options.session, closedAs, 'starting the turn of this input');
  return filter.refusedAt();
}

/** Reads a turn to its end, past the waits that were answered since. */
async function readText(options: TurnOptions): Promise<string> {
  const { session } = options;
  const reader = new TurnReader(options);
  for (let events: AsyncIterable<LogEvent | PartialEvent> = turnEvents(options); ;) {
    let last: LogEvent | undefined;
    for await (const event of events) {
      reader.add(event);
      if ('seq' in event) last = event;
    }
    const { text, error, stop } = reader;
    if (stop !== undefined && stop.stopReason !== 'requires_action')
      return readAnswer(session, { ...stop, text, error, pending: [] });
    if (last === undefined || (stop === undefined && !isRefusedAnswer(last)))
      throw new RuntimeClosedError();
    const wait = await options.findWait();
    if (wait !== undefined)
      throw new TurnNotCompletedError(session, {
        stopReason: 'requires_action',
        text,
        error,
        pending: await options.listPending(),
        isQueued: wait.invocationId !== options.invocationId,
      });
    const { seq } = last;
    events = readTurnLog(options, async () => seq, stop?.isQueued !== true);
  }
}

/** Creates the filter for the events of one turn, from the first event of its input. */
function createTurnFilter(
  options: TurnOptions,
  hasBegun: boolean,
): LogFilter & {
  /** The status that the session got before the turn began, if no turn can begin any more. */
  readonly closedAs: () => SessionStatus | undefined;
  /** The event with which the earlier turn refused an answer, if the log was read up to there for that reason. */
  readonly refusedAt: () => Seq | undefined;
} {
  let begun = hasBegun;
  let refusedAt: Seq | undefined;
  let closedAs: SessionStatus | undefined;
  return {
    closedAs: () => closedAs,
    refusedAt: () => refusedAt,
    includes: (event) => {
      if (event.type === 'partial') return event.invocationId === options.invocationId;
      if (event.type === 'partial.reset') return begun;
      begun ||= options.begins(event);
      return begun || isOtherTurnWaiting(event, options.invocationId);
    },
    endsAt: (event) => {
      if (event.type === 'session.completed') closedAs = 'completed';
      if (event.type === 'session.archived') closedAs = 'archived';
      if (closedAs !== undefined) return true;
      if (!begun && isRefusedAnswer(event)) refusedAt = event.seq;
      return refusedAt !== undefined || endsTurn(event, options.invocationId, begun);
    },
  };
}

function isOtherTurnWaiting(event: LogEvent, invocationId: string): boolean {
  return event.type === 'turn.waiting' && event.invocationId !== invocationId;
}

function isRefusedAnswer(event: LogEvent): event is LogEventByType<'error'> {
  return event.type === 'error' && event.code === 'answer_refused';
}

/** True when the turn ended or waits, or when another turn waits before this one has begun. */
function endsTurn(event: LogEvent, invocationId: string, begun: boolean): boolean {
  if (event.type === 'turn.waiting') return begun || isOtherTurnWaiting(event, invocationId);
  if (event.type === 'turn.ended') return event.invocationId === invocationId;
  return begun && isRefusedAnswer(event) && event.invocationId === invocationId;
}
