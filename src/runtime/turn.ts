import type { LogEvent, PartialEvent, Seq } from '../core/index.ts';
import type { InputSeq } from '../store/index.ts';
import type { Selection } from './log-cursor.ts';

/**
 * One message's (or answer's) way through the session: iterate it to watch, or do not; it goes on all the same.
 * It ends when the turn ends or waits for someone. Leaving the loop cancels nothing.
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
export interface Sent {
  readonly inputSeq: InputSeq;
  readonly from: Seq;
}

export interface TurnOptions {
  /** Known when the input is accepted at the latest. */
  readonly invocationId: string;
  readonly sent: Promise<Sent>;
  /** What is selected of the log after `from`, as it comes. */
  readonly watch: (
    from: () => Promise<Seq>,
    selection: Selection,
  ) => AsyncIterable<LogEvent | PartialEvent>;
  /** The event with which this input takes effect: watching begins with it. */
  readonly begins: (event: LogEvent) => boolean;
}

export function createTurn(options: TurnOptions): Turn {
  const { sent, watch } = options;
  const accepted = sent.then(({ inputSeq }) => inputSeq);
  // Who neither awaits nor iterates has chosen not to know.
  accepted.catch(() => {});
  return {
    get invocationId() {
      return options.invocationId;
    },
    accepted,
    [Symbol.asyncIterator]: () =>
      watch(async () => (await sent).from, selectTurn(options))[Symbol.asyncIterator](),
  };
}

/** Of the log, what belongs to the turn, from the event with which its input takes effect. */
function selectTurn(options: TurnOptions): Selection {
  let begun = false;
  return {
    shows: (event) => {
      if (event.type === 'partial') return event.invocationId === options.invocationId;
      if (event.type === 'partial.reset') return begun;
      begun ||= options.begins(event);
      return begun;
    },
    endsWith: (event) => endsIt(event, options.invocationId, begun),
  };
}

/** The turn is over or waits; or another one waits, and ours stands behind it. */
function endsIt(event: LogEvent, invocationId: string, begun: boolean): boolean {
  if (event.type === 'turn.waiting') return begun || event.invocationId !== invocationId;
  if (event.type === 'turn.ended') return event.invocationId === invocationId;
  return (
    begun &&
    event.type === 'error' &&
    event.code === 'answer_refused' &&
    event.invocationId === invocationId
  );
}
