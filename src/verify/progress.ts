import { setImmediate } from 'node:timers/promises';
import type { Property } from './properties/property.ts';
import type { PropertyResult } from './report.ts';
import type { OnPause } from './search/search.ts';

/** How far a running search is. */
export interface ProofProgress {
  /** The properties that the search decides. */
  readonly properties: readonly Property[];
  /** The number of states visited so far. */
  readonly states: number;
}

/** The options of `prove` that observe a proof while it runs, or end it early. */
export interface ProofObserver {
  /** Called with each result as soon as it is final. Exceptions of the callback reject `prove`. */
  readonly onResult?: (result: PropertyResult) => void;
  /** Called about every 50 ms during a search. Exceptions of the callback reject `prove`. */
  readonly onProgress?: (progress: ProofProgress) => void;
  /**
   * Ends the proof early. `prove` then returns what it knows. A property that is not decided has the verdict `unknown`,
   * with the reason "canceled".
   */
  readonly signal?: AbortSignal;
  /**
   * Ends the proof after the first refuted property. A property that is not decided has the verdict `unknown`. Default:
   * false.
   */
  readonly failFast?: boolean;
}

const CANCELED = 'canceled';
const FAILED_FAST = 'not checked, because another property was refuted';

/** Observes one call of `prove`: reports results and progress, and knows when to end. */
export class ProofRun {
  readonly #observer: ProofObserver;
  #isRefuted = false;

  constructor(observer: ProofObserver) {
    this.#observer = observer;
  }

  /** The reason to end the proof now. Undefined if it continues. */
  get endReason(): string | undefined {
    if (this.#observer.signal?.aborted === true) return CANCELED;
    return this.#isRefuted && this.#observer.failFast === true ? FAILED_FAST : undefined;
  }

  /** Reports a result that is final. */
  report(result: PropertyResult): void {
    if (result.verdict === 'refuted') this.#isRefuted = true;
    this.#observer.onResult?.(result);
  }

  /** Returns what a search of these properties calls when it pauses: events of the process are handled. */
  onPause(properties: readonly Property[]): OnPause {
    return async (states) => {
      this.#observer.onProgress?.({ properties, states });
      await setImmediate();
      return this.endReason;
    };
  }
}
