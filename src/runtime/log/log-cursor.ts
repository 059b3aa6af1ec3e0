import type { LogEvent, PartialEvent, Seq, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import type { BroadcastEvent, SessionBroadcast } from './session-broadcast.ts';

/** When a slow reader has more buffered events than this, the buffer is dropped and the store is read again. */
const MAX_BUFFERED = 10_000;

export interface LogCursorOptions {
  readonly store: Store;
  readonly broadcast: SessionBroadcast;
  readonly session: string;
  readonly key: SessionKey;
  /**
   * Reads events after this one. A function is called when reading begins; undefined ends it. The events that are
   * published until it resolves are not lost.
   */
  readonly from: Seq | (() => Promise<Seq | undefined>);
  /** False: ends at the end of the log. True: waits for more events. */
  readonly follow: boolean;
  readonly signal?: AbortSignal | undefined;
  /** True when nothing more can be read. */
  readonly isClosed: () => boolean;
  /**
   * Called before waiting. Undefined: events may come.
   * @throws the reason, when no event will come because the session cannot run here
   */
  readonly assertCanWait: () => Promise<void> | undefined;
  /** Called with true when waiting begins, and with false when it ends. */
  readonly onWaiting?: (waiting: boolean) => void;
  /** True when this event is the last one committed, so the store need not be read. */
  readonly isAtEnd?: (seq: Seq) => boolean;
  readonly filter?: LogFilter | undefined;
}

/** Selects a part of a log. Called for each event in order: `includes` first, then `endsAt`. */
export interface LogFilter {
  readonly includes: (event: LogEvent | PartialEvent) => boolean;
  readonly endsAt: (event: LogEvent) => boolean;
}

const includeAll: LogFilter = { includes: () => true, endsAt: () => false };

/**
 * Yields a session's log after `from`, then follows new events. Subscribes before it reads the store, so that no event
 * is lost; yields each committed event once, by its number. A slow reader loses no committed event, because it
 * reads the rest from the store; it may lose partials.
 * @throws the reason, when the session cannot run here and no more events will come
 */
export async function* openLogCursor(
  options: LogCursorOptions,
): AsyncGenerator<LogEvent | PartialEvent, void, undefined> {
  const { store, key, signal, filter = includeAll } = options;
  let next = 0;
  let buffer: BroadcastEvent[] = [];
  let mustReadStore = false;
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
    const from = typeof options.from === 'number' ? options.from : await options.from();
    if (from === undefined) return;
    next = from + 1;
    // What was published while `from` resolved may begin with the next event.
    const isBuffered = buffer.some((live) => isEvent(live, next));
    mustReadStore ||= !isBuffered && options.isAtEnd?.(from) !== true;
    while (!isAborted(signal)) {
      if (mustReadStore) {
        // Events committed before the runtime closed are in the buffer already, and the store may be closed.
        if (options.isClosed()) return;
        mustReadStore = false;
        for await (const event of store.read(key, next - 1)) {
          if (event.seq < next) continue;
          next = event.seq + 1;
          if (filter.includes(event)) yield event;
          if (filter.endsAt(event) || isAborted(signal)) return;
        }
      }
      const live = buffer.shift();
      if (live === undefined) {
        if (!options.follow || options.isClosed()) return;
        const checking = options.assertCanWait();
        if (checking !== undefined) await checking;
        await new Promise<void>((resolve) => {
          notify = resolve;
          options.onWaiting?.(true);
          if (buffer.length > 0 || mustReadStore || isAborted(signal)) resolve();
        });
        options.onWaiting?.(false);
      } else if (live === 'changed') mustReadStore = true;
      else if (!('seq' in live)) {
        if (filter.includes(live)) yield live;
      } else if (live.seq === next) {
        next++;
        if (filter.includes(live)) yield live;
        if (filter.endsAt(live)) return;
      } else if (live.seq > next) {
        mustReadStore = true;
      }
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    unsubscribe();
  }
}

function isEvent(live: BroadcastEvent, seq: Seq): boolean {
  return live !== 'changed' && 'seq' in live && live.seq === seq;
}

// A function, because TypeScript would narrow `signal.aborted` across a yield, which may change it.
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
