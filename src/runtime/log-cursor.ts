import type { LogEvent, PartialEvent, Seq, SessionKey } from '../core/index.ts';
import type { Store } from '../store/index.ts';
import type { Live, LiveFeed } from './live-feed.ts';

/** More than this waiting for a slow reader is let go and read from the store again. */
const MAX_BUFFERED = 10_000;

export interface LogCursorOptions {
  readonly store: Store;
  readonly feed: LiveFeed;
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
  readonly mayWait: () => void;
  /** Called while it waits for something to happen, and when it no longer does. */
  readonly onWaiting?: (waiting: boolean) => void;
  /** True when nothing after this event is committed, so that the store need not be asked. */
  readonly isAtEnd?: (seq: Seq) => boolean;
  readonly selection?: Selection | undefined;
}

/** A part of a log. It is asked about each event in order, and whether one ends it after whether it is shown. */
export interface Selection {
  readonly shows: (event: LogEvent | PartialEvent) => boolean;
  readonly endsWith: (event: LogEvent) => boolean;
}

const everything: Selection = { shows: () => true, endsWith: () => false };

/**
 * Reads a session's log from any point on, without a gap and without a repetition, and then what happens, as it happens.
 * It watches first and reads then, so nothing falls between; whatever is committed is yielded by number, once.
 * A reader that is slow is never skipped: it reads the rest from the store. Partials are shown when it keeps up.
 */
export async function* logCursor(
  options: LogCursorOptions,
): AsyncGenerator<LogEvent | PartialEvent, void, undefined> {
  const { store, key, signal, selection = everything } = options;
  const from = typeof options.from === 'number' ? options.from : await options.from();
  let next = from + 1;
  let buffer: Live[] = [];
  let behind = true;
  let wake: () => void = () => {};
  const unwatch = options.feed.watch(options.session, (live) => {
    if (buffer.length + live.length > MAX_BUFFERED) {
      buffer = [];
      behind = true;
    } else buffer.push(...live);
    wake();
  });
  const onAbort = (): void => wake();
  signal?.addEventListener('abort', onAbort);
  try {
    behind = options.isAtEnd?.(from) !== true;
    while (!isAborted(signal)) {
      if (behind) {
        // What this runtime committed before it closed was told already; its store may be closed by now.
        if (options.isClosed()) return;
        behind = false;
        for await (const event of store.read(key, next - 1)) {
          if (event.seq < next) continue;
          next = event.seq + 1;
          if (selection.shows(event)) yield event;
          if (selection.endsWith(event) || isAborted(signal)) return;
        }
      }
      const live = buffer.shift();
      if (live === undefined) {
        if (!options.follow || options.isClosed()) return;
        options.mayWait();
        await new Promise<void>((resolve) => {
          wake = resolve;
          options.onWaiting?.(true);
          if (buffer.length > 0 || behind || isAborted(signal)) resolve();
        });
        options.onWaiting?.(false);
      } else if (live === 'changed') behind = true;
      else if (!('seq' in live)) {
        if (selection.shows(live)) yield live;
      } else if (live.seq === next) {
        next++;
        if (selection.shows(live)) yield live;
        if (selection.endsWith(live)) return;
      } else if (live.seq > next) {
        behind = true;
      }
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    unwatch();
  }
}

// Read anew each time: the flow of control does not see that a yield may have let it change.
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
