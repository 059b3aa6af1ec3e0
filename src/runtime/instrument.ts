import type { Agent, Watch, WatchedCall } from '../agents/index.ts';
import type { Json, JsonObject, LogEvent, Seq } from '../core/index.ts';
import { chainObservers } from './observer.ts';
import type { CommittedRecords, Observer } from './observer.ts';

/** What is known of a session beside the step it committed. */
export interface ObservedSession {
  readonly agent: Agent;
  /** The invocation that runs or waits after the step. */
  readonly invocationId: string | undefined;
  /** What that invocation's message carried. */
  readonly carried: JsonObject | undefined;
  /** The log after `from`, 0 unless given, as it is now. */
  readonly log: (from?: Seq) => AsyncIterable<LogEvent>;
}

/** Watches a runtime at work. Whatever it does, it changes nothing of what the sessions do. */
export interface Instrument {
  /** Asked when a message is sent. Journaled with it, and told with all that follows from it, in any process. */
  readonly carry?: () => JsonObject | undefined;
  /** After each committed step, before its effects begin. */
  readonly observe?: (committed: CommittedRecords, session: ObservedSession) => void;
  /** Around each call of a model and of a tool, while it is made. */
  readonly watch?: Watch;
}

/** Several instruments as one; absent members are told as such. */
export interface ChainedInstrument {
  readonly carry: () => JsonObject | undefined;
  readonly observe: NonNullable<Instrument['observe']>;
  readonly watch: Watch | undefined;
}

/**
 * Each is asked in order, and the first watches from outermost. What one throws while it carries or observes is heard
 * of, and keeps nobody else from it.
 */
export function chainInstruments(
  instruments: readonly Instrument[],
  onError: (error: unknown) => void,
): ChainedInstrument {
  const watches = instruments.flatMap(({ watch }) => watch ?? []);
  return {
    carry: () => carriedBy(instruments, onError),
    observe: (committed, session) => {
      const observers = instruments.map(({ observe }): Observer => {
        return () => observe?.(committed, session);
      });
      chainObservers(observers, onError)(committed);
    },
    watch: watches.length === 0 ? undefined : nested(watches),
  };
}

function carriedBy(
  instruments: readonly Instrument[],
  onError: (error: unknown) => void,
): JsonObject | undefined {
  const carried: Record<string, Json> = {};
  for (const { carry } of instruments) {
    try {
      Object.assign(carried, carry?.());
    } catch (error) {
      onError(error);
    }
  }
  return Object.keys(carried).length === 0 ? undefined : carried;
}

function nested(watches: readonly Watch[]): Watch {
  return async <T>(call: WatchedCall, make: () => Promise<T>): Promise<T> => {
    const outermost = watches.reduceRight<() => Promise<T>>(
      (inner, watch) => async () => watch(call, inner),
      make,
    );
    return outermost();
  };
}
