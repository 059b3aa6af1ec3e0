import type { LogEvent, PartialEvent, Seq } from '../core/index.ts';
import type { InputSeq } from '../store/index.ts';

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
  readonly watch: (from: Seq) => AsyncIterable<LogEvent | PartialEvent>;
  /** The event with which this input takes effect: watching begins with it. */
  readonly begins: (event: LogEvent) => boolean;
}

export function createTurn(options: TurnOptions): Turn {
  const { sent, watch, begins } = options;
  const accepted = sent.then(({ inputSeq }) => inputSeq);
  // Who neither awaits nor iterates has chosen not to know.
  accepted.catch(() => {});
  return {
    get invocationId() {
      return options.invocationId;
    },
    accepted,
    async *[Symbol.asyncIterator]() {
      const { from } = await sent;
      const { invocationId } = options;
      let begun = false;
      for await (const event of watch(from)) {
        if (event.type === 'partial' || event.type === 'partial.reset') {
          if (event.type === 'partial.reset' ? begun : event.invocationId === invocationId)
            yield event;
          continue;
        }
        begun ||= begins(event);
        if (begun) yield event;
        if (endsIt(event, invocationId, begun)) return;
      }
    },
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
