import type { LogEvent, PartialEvent, Seq, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import type { BroadcastEvent, SessionBroadcast } from './session-broadcast.ts';

/** More than this waiting for a slow reader is let go and read from the store again. */
const MAX_BUFFERED = 10_000;

export interface LogCursorOptions {
  readonly store: Store;
  readonly broadcast: SessionBroadcast;
  readonly session: string;
  readonly key: SessionKey;
  /** Events after this one; asked for when reading begins. */
  readonly from: Seq | (() => Promise<Seq>);
  /** Ends at the log's end instead of waiting for more. */
  readonly follow: boolean;
  readonly signal?: AbortSignal | undefined;
  /** True when nothing more can be read. */
  readonly isClosed: () => boolean;
  /** Asked before it waits. @throws why, when nothing will come because the session cannot run here */
  readonly assertCanWait: () => void;
  /** Called while it waits for something to happen, and when it no longer does. */
  readonly onWaiting?: (waiting: boolean) => void;
  /** True when nothing after this event is committed, so that the store need not be asked. */
  readonly isAtEnd?: (seq: Seq) => boolean;
  readonly filter?: LogFilter | undefined;
}

/** A part of a log. It is asked about each event in order, and whether one ends it after whether it is shown. */
export interface LogFilter {
  readonly includes: (event: LogEvent | PartialEvent) => boolean;
  readonly endsAt: (event: LogEvent) => boolean;
}

const includeAll: LogFilter = { includes: () => true, endsAt: () => false };

/**
 * Reads a session's log from any point on, without a gap and without a repetition, and then what happens, as it happens.
 * It watches first and reads then, so nothing falls between; whatever is committed is yielded by number, once.
 * A reader that is slow is never skipped: it reads the rest from the store. Partials are shown when it keeps up.
 */
export async function* openLogCursor(
  options: LogCursorOptions,
): AsyncGenerator<LogEvent | PartialEvent, void, undefined> {
  const { store, key, signal, filter: selection = includeAll } = options;
  const from = typeof options.from === 'number' ? options.from : await options.from();
  let next = from + 1;
  let buffer: BroadcastEvent[] = [];
  let mustReadStore = true;
  let notify: () => void = () => {};
  const unsubscribe = options.broadcast.subscribe(options.session, (live) => {
    if (buffer.length + live.length > MAX_BUFFERED) {
      buffer = [];
      mustReadStore = true;
    } else buffer.push(...live);
    notify();
  });
  const onAbort = (): void => notify();
  signal?.addEventListener('abort', onAbort);
  try {
    mustReadStore = options.isAtEnd?.(from) !== true;
    while (!isAborted(signal)) {
      if (mustReadStore) {
        // What this runtime committed before it closed was told already; its store may be closed by now.
        if (options.isClosed()) return;
        mustReadStore = false;
        for await (const event of store.read(key, next - 1)) {
          if (event.seq < next) continue;
          next = event.seq + 1;
          if (selection.includes(event)) yield event;
          if (selection.endsAt(event) || isAborted(signal)) return;
        }
      }
      const live = buffer.shift();
      if (live === undefined) {
        if (!options.follow || options.isClosed()) return;
        options.assertCanWait();
        await new Promise<void>((resolve) => {
          notify = resolve;
          options.onWaiting?.(true);
          if (buffer.length > 0 || mustReadStore || isAborted(signal)) resolve();
        });
        options.onWaiting?.(false);
      } else if (live === 'changed') mustReadStore = true;
      else if (!('seq' in live)) {
        if (selection.includes(live)) yield live;
      } else if (live.seq === next) {
        next++;
        if (selection.includes(live)) yield live;
        if (selection.endsAt(live)) return;
      } else if (live.seq > next) {
        mustReadStore = true;
      }
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    unsubscribe();
  }
}

// Read anew each time: the flow of control does not see that a yield may have let it change.
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
