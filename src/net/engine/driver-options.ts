import type { Clock } from '../clock/clock.ts';
import type { Executor } from './executor.ts';
import type { RecordSeq } from '../journal/record.ts';
import type { Settled } from './settled.ts';

/** A token from outside for an environment place. */
export interface Injection {
  readonly place: string;
  readonly value: unknown;
  /** The deduplication key, stored with the record. */
  readonly key?: string;
  /** The number of the input in the host's inbox, if it came from there. */
  readonly inputSeq?: number;
  /** True for an input that is in no inbox: its step accepts it, or the commit refuses it. */
  readonly isDirect?: boolean;
}

/** A settled step to commit to the journal. */
export interface Step extends Settled {
  /** The injections of this step, in order, including rejected ones. */
  readonly injected: readonly Injection[];
  /** Injections that the net rejected. They count as consumed, so that an invalid input is not retried. */
  readonly rejected: readonly { readonly injection: Injection; readonly error: unknown }[];
}

/**
 * The outcome of a commit. `refused`: another owner has the journal. `conflict`: state that the step is based on
 * changed. `inputs-refused`: the journal does not accept the direct inputs of the step. Nothing is written in these
 * cases.
 */
export type StepOutcome = 'committed' | 'refused' | 'conflict' | 'inputs-refused';

/** A partial result that a running attempt emitted. */
export interface EffectProgress {
  readonly firingId: string;
  readonly attempt: number;
  readonly transition: string;
  readonly partial: unknown;
}

/** The collaborators of a driver: the executor, the clock, the journal and the listeners. */
export interface DriverOptions {
  /** Creates the executor. The executor calls `onAbort` for each firing whose attempt must stop. */
  readonly executor: (onAbort: (firing: RecordSeq) => void) => Executor;
  readonly clock: Clock;
  /** Makes a step durable, whole or not at all. A rejection stops the driver, so reject only if no retry can succeed. */
  readonly commit: (step: Step) => Promise<StepOutcome>;
  /** Called after a step is durable and before its effects begin. */
  readonly onCommitted: (step: Step) => void;
  /** Called for each partial result of a running attempt. */
  readonly onProgress: (progress: EffectProgress) => void;
  /** Called when another owner has the journal. All attempts were aborted and this driver has stopped. */
  readonly onRefused: () => void;
  /** Called when settling or committing threw: a damaged journal or a defect. This driver has stopped. */
  readonly onFailed: (error: unknown) => void;
  /** Called after a conflict, or when direct inputs were refused. Returns a new executor over the stored journal, with the shared state loaded again. */
  readonly reload: (onAbort: (firing: RecordSeq) => void) => Promise<Executor>;
  /**
   * Runs a callback after the current work, so that results that arrive together share a step. Default:
   * `setImmediate`.
   */
  readonly defer?: (callback: () => void) => void;
}
