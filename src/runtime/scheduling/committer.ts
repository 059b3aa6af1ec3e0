import { setTimeout } from 'node:timers/promises';
import { formatSessionKey } from '../../core/identity/session-key.ts';
import { StoreClosedError, StoreUnavailableError } from '../../store/store-errors.ts';
import type { CommitResult, SettledStep, Store } from '../../store/store.ts';

/** What becomes of a step in the end: one whose session is busy is tried until it is not. */
export type FinalCommitResult = Exclude<CommitResult, { readonly refused: 'busy' }>;

/** Makes the steps of all sessions durable, those of one turn of the event loop together. */
export interface Committer {
  /**
   * Resolves when the step is durable, or refused: until then nothing of it may be shown or started.
   * Rejects only for what trying again cannot mend, and for a store that is still unavailable when the committer is closed.
   */
  commit(step: SettledStep): Promise<FinalCommitResult>;

  /** Takes no new steps and resolves when those it has are settled. An unavailable store is tried `closeAttempts` times more. */
  close(): Promise<void>;
}

/** How a committer gathers the steps of a moment, and how long it keeps trying a store that is unavailable. */
export interface CommitterOptions {
  readonly store: Store;
  /** Calls back when the sessions that settle now have settled: after this turn of the event loop unless given. */
  readonly schedule?: (flush: () => void) => void;
  /** Waits between tries, 20 ms and then doubling up to 2 s; a timer unless given. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Hears of every attempt the store could not take, before the next one. */
  readonly onUnavailable?: (error: StoreUnavailableError, attempt: number) => void;
  /** How often a closing committer tries an unavailable store; 5 unless given. */
  readonly closeAttempts?: number;
}

interface PendingStep {
  readonly step: SettledStep;
  readonly resolve: (result: FinalCommitResult) => void;
  readonly reject: (error: unknown) => void;
}

const MIN_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 2000;

/** Makes a committer over a store. */
export function createCommitter(options: CommitterOptions): Committer {
  return new GroupCommitter(options);
}

class GroupCommitter implements Committer {
  readonly #store: Store;
  readonly #schedule: (flush: () => void) => void;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #onUnavailable: (error: StoreUnavailableError, attempt: number) => void;
  readonly #closeAttempts: number;
  #pending: PendingStep[] = [];
  #scheduled = false;
  #flushing: Promise<void> | undefined;
  #closing = false;
  /** Sessions that somebody else keeps busy: their steps are tried alone, and in their order. */
  readonly #separate = new Map<string, Promise<void>>();

  constructor(options: CommitterOptions) {
    this.#store = options.store;
    this.#schedule = options.schedule ?? ((flush) => void setImmediate(flush));
    this.#sleep = options.sleep ?? ((ms) => setTimeout(ms));
    this.#onUnavailable = options.onUnavailable ?? (() => undefined);
    this.#closeAttempts = options.closeAttempts ?? 5;
  }

  commit(step: SettledStep): Promise<FinalCommitResult> {
    if (this.#closing) return Promise.reject(new StoreClosedError());
    return new Promise((resolve, reject) => {
      const one = { step, resolve, reject };
      if (this.#separate.has(formatSessionKey(step.key))) {
        this.#commitSeparately(one);
        return;
      }
      this.#pending.push(one);
      if (this.#scheduled) return;
      this.#scheduled = true;
      this.#schedule(() => {
        this.#scheduled = false;
        void this.#flush();
      });
    });
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#flush();
    while (this.#separate.size > 0) {
      await Promise.all(this.#separate.values());
      await this.#flush();
    }
  }

  /** One commit at a time, so that steps keep their order; what settles meanwhile is in the next. */
  #flush(): Promise<void> {
    this.#flushing ??= this.#commitAll().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #commitAll(): Promise<void> {
    let attempt = 0;
    let attemptsLeft = this.#closeAttempts;
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      const refused = await this.#commitBatch(batch);
      attempt = refused === undefined ? 0 : attempt + 1;
      if (refused === undefined) continue;
      if (this.#closing && --attemptsLeft <= 0) {
        for (const { reject } of batch) reject(refused);
        continue;
      }
      // Ahead of what came meanwhile.
      this.#pending = [...batch, ...this.#pending];
      this.#onUnavailable(refused, attempt);
      await this.#sleep(backoffMs(attempt));
    }
  }

  /** Settles the steps of a batch, unless the store is unavailable: then it returns why. */
  async #commitBatch(batch: readonly PendingStep[]): Promise<StoreUnavailableError | undefined> {
    try {
      const results = await this.#store.commit(batch.map(({ step }) => step));
      for (const [index, result] of results.entries()) {
        const one = batch[index];
        if (one === undefined) continue;
        if (isBusy(result)) this.#commitSeparately(one);
        else one.resolve(result);
      }
      return undefined;
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        if (error.reason !== 'busy' || batch.length === 1) return error;
        // One of them waits for somebody else, and which one is not known.
        for (const one of batch) this.#commitSeparately(one);
        return undefined;
      }
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await this.#commitIndividually(one);
      return undefined;
    }
  }

  /** One of several steps cannot be committed at all: the others must not suffer from it. */
  async #commitIndividually(one: PendingStep): Promise<void> {
    const unavailable = await this.#commitBatch([one]);
    if (unavailable !== undefined) this.#pending.push(one);
  }

  /** A step that may have to wait for somebody else goes on beside the others, behind those of its own session. */
  #commitSeparately(one: PendingStep): void {
    const name = formatSessionKey(one.step.key);
    const before = this.#separate.get(name) ?? Promise.resolve();
    const done = before
      .then(async () => this.#commitAlone(one))
      .finally(() => {
        if (this.#separate.get(name) === done) this.#separate.delete(name);
      });
    this.#separate.set(name, done);
  }

  async #commitAlone(one: PendingStep): Promise<void> {
    for (let attempt = 1, attemptsLeft = this.#closeAttempts; ; attempt++) {
      const refused = await this.#tryAlone(one);
      if (refused === undefined) return;
      if (this.#closing && --attemptsLeft <= 0) {
        one.reject(refused);
        return;
      }
      this.#onUnavailable(refused, attempt);
      await this.#sleep(backoffMs(attempt));
    }
  }

  async #tryAlone(one: PendingStep): Promise<StoreUnavailableError | undefined> {
    try {
      const [result] = await this.#store.commit([one.step]);
      if (result !== undefined && !isBusy(result)) one.resolve(result);
      else one.reject(new TypeError('The store left out a step that was committed alone.'));
      return undefined;
    } catch (error) {
      if (error instanceof StoreUnavailableError) return error;
      one.reject(error);
      return undefined;
    }
  }
}

function isBusy(result: CommitResult): result is Exclude<CommitResult, FinalCommitResult> {
  return !result.ok && result.refused === 'busy';
}

function backoffMs(attempt: number): number {
  return Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (attempt - 1));
}
