import type { LogEvent, LogEventByType, PartialEvent, Seq } from '../../core/index.ts';
import type { InputSeq } from '../../store/index.ts';
import type { LogFilter } from '../log/log-cursor.ts';

/**
 * One message's (or answer's) way through the session: iterate it to watch, or do not; it goes on all the same.
 * It ends when the turn ends or waits for someone. While another turn of the session waits, it gives that one's
 * `turn.waiting`, which lists the calls, and ends: the input is kept, and takes effect when the other turn is over.
 * Leaving the loop cancels nothing.
 */
export interface Turn extends AsyncIterable<LogEvent | PartialEvent> {
  readonly invocationId: string;
  /**
   * Resolves when the input is durable, with its number in the session's inbox. Rejects when it was refused,
   * and then nothing was changed.
   */
  readonly accepted: Promise<InputSeq>;
}

/** What was sent, and where to watch from. */
export interface SentInput {
  readonly inputSeq: InputSeq;
  readonly from: Seq;
  /** A turn waited for someone when it was sent. */
  readonly whileWaiting: boolean;
}

export interface TurnOptions {
  /** Known when the input is accepted at the latest. */
  readonly invocationId: string;
  readonly sent: Promise<SentInput>;
  /** What is selected of the log after `from`, as it comes. */
  readonly readLog: (
    from: () => Promise<Seq>,
    selection: LogFilter,
  ) => AsyncIterable<LogEvent | PartialEvent>;
  /** The event with which this input takes effect: watching begins with it. */
  readonly begins: (event: LogEvent) => boolean;
  /** The wait of another turn that this input stands behind, if one still stands. Asked when it was sent during a wait. */
  readonly findBlockingWait?: (from: Seq) => Promise<LogEvent | undefined>;
}

export function createTurn(options: TurnOptions): Turn {
  const { sent } = options;
  const accepted = sent.then(({ inputSeq }) => inputSeq);
  // Who neither awaits nor iterates has chosen not to know.
  accepted.catch(() => {});
  return {
    get invocationId() {
      return options.invocationId;
    },
    accepted,
    [Symbol.asyncIterator]: () => turnEvents(options),
  };
}

async function* turnEvents(options: TurnOptions): AsyncGenerator<LogEvent | PartialEvent> {
  const sent = await options.sent;
  let { from, whileWaiting } = sent;
  for (;;) {
    const wait = whileWaiting ? await options.findBlockingWait?.(from) : undefined;
    if (wait !== undefined) {
      yield wait;
      return;
    }
    const at = from;
    const selection = createTurnFilter(options);
    yield* options.readLog(async () => at, selection);
    const refusedAt = selection.refusedAt();
    if (refusedAt === undefined) return;
    // The answer that was on its way to the turn before it was refused: that one may wait on.
    from = refusedAt;
    whileWaiting = true;
  }
}

/** Of the log, what belongs to the turn, from the event with which its input takes effect. */
function createTurnFilter({ invocationId, begins }: TurnOptions): LogFilter & {
  /** Where it ended because the turn before it refused an answer, if it did. */
  readonly refusedAt: () => Seq | undefined;
} {
  let begun = false;
  let refusedAt: Seq | undefined;
  return {
    refusedAt: () => refusedAt,
    includes: (event) => {
      if (event.type === 'partial') return event.invocationId === invocationId;
      if (event.type === 'partial.reset') return begun;
      begun ||= begins(event);
      return begun || isOtherTurnWaiting(event, invocationId);
    },
    endsAt: (event) => {
      if (!begun && isRefusedAnswer(event)) refusedAt = event.seq;
      return refusedAt !== undefined || endsTurn(event, invocationId, begun);
    },
  };
}

function isOtherTurnWaiting(event: LogEvent, invocationId: string): boolean {
  return event.type === 'turn.waiting' && event.invocationId !== invocationId;
}

function isRefusedAnswer(event: LogEvent): event is LogEventByType<'error'> {
  return event.type === 'error' && event.code === 'answer_refused';
}

/** The turn is over or waits; or another one waits, and ours stands behind it. */
function endsTurn(event: LogEvent, invocationId: string, begun: boolean): boolean {
  if (event.type === 'turn.waiting') return begun || isOtherTurnWaiting(event, invocationId);
  if (event.type === 'turn.ended') return event.invocationId === invocationId;
  return begun && isRefusedAnswer(event) && event.invocationId === invocationId;
}
