import { setTimeout } from 'node:timers/promises';
import { formatSessionKey } from '../../core/index.ts';
import { StoreClosedError, StoreUnavailableError } from '../../store/internal.ts';
import type { CommitResult, SettledStep, Store } from '../../store/index.ts';
import { backoffMs } from './repeat-while-unavailable.ts';

/** The final result of a commit. There is no `busy`: the committer retries until the session is not busy. */
export type FinalCommitResult = Exclude<CommitResult, { readonly refused: 'busy' }>;

/** Commits the steps of all sessions to a store. Steps of one turn of the event loop go into one commit. */
export interface Committer {
  /**
   * Resolves when the step is durable or refused. Until then the caller must not publish its events or start its
   * effects.
   * @throws StoreUnavailableError when the store is still unavailable after the committer's last attempt at closing
   * @throws StoreClosedError after `close`
   * @throws every other error of the store, because a retry cannot help
   */
  commit(step: SettledStep): Promise<FinalCommitResult>;

  /**
   * Accepts no more steps. Resolves when all accepted steps are settled. Retries an unavailable store `closeAttempts`
   * times.
   */
  close(): Promise<void>;
}

/** The options of {@link createCommitter}. */
export interface CommitterOptions {
  readonly store: Store;
  /** Schedules the commit of the collected steps. Default: `setImmediate`. */
  readonly schedule?: (flush: () => void) => void;
  /** Waits between attempts: 20 ms, then doubling up to 2 s. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** Called after each attempt that failed because the store was unavailable. `attempt` starts at 1. */
  readonly onUnavailable?: (error: StoreUnavailableError, attempt: number) => void;
  /** Attempts of a closing committer on an unavailable store. Default: 5. */
  readonly closeAttempts?: number;
  /** Called before each commit to the store. The function that it returns is called after the commit. */
  readonly onCommit?: () => () => void;
}

interface PendingStep {
  readonly step: SettledStep;
  readonly resolve: (result: FinalCommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Creates a committer for a store. */
export function createCommitter(options: CommitterOptions): Committer {
  return new GroupCommitter(options);
}

class GroupCommitter implements Committer {
  readonly #store: Store;
  readonly #schedule: (flush: () => void) => void;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #onUnavailable: (error: StoreUnavailableError, attempt: number) => void;
  readonly #closeAttempts: number;
  readonly #onCommit: () => () => void;
  #pending: PendingStep[] = [];
  #scheduled = false;
  #flushing: Promise<void> | undefined;
  #closing = false;
  /** Sessions whose row another client has locked. Their steps are committed one by one, in order. */
  readonly #separate = new Map<string, Promise<void>>();

  constructor(options: CommitterOptions) {
    this.#store = options.store;
    this.#schedule = options.schedule ?? ((flush) => void setImmediate(flush));
    this.#sleep = options.sleep ?? ((ms) => setTimeout(ms));
    this.#onUnavailable = options.onUnavailable ?? (() => undefined);
    this.#closeAttempts = options.closeAttempts ?? 5;
    this.#onCommit = options.onCommit ?? (() => () => undefined);
  }

  commit(step: SettledStep): Promise<FinalCommitResult> {
    if (this.#closing) return Promise.reject(new StoreClosedError());
    return new Promise((resolve, reject) => {
      const pending = { step, resolve, reject };
      if (this.#separate.size > 0 && this.#separate.has(formatSessionKey(step.key))) {
        this.#commitSeparately(pending);
        return;
      }
      this.#pending.push(pending);
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

  /** Runs one commit at a time, so that steps keep their order. Steps that arrive meanwhile go into the next commit. */
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
      // Before the steps that arrived meanwhile, to keep their order.
      this.#pending = [...batch, ...this.#pending];
      this.#onUnavailable(refused, attempt);
      await this.#sleep(backoffMs(attempt));
    }
  }

  /**
   * Commits a batch and settles its steps. Returns the error when the store is unavailable; then no step is settled.
   */
  async #commitBatch(batch: readonly PendingStep[]): Promise<StoreUnavailableError | undefined> {
    try {
      const results = await this.#write(batch.map(({ step }) => step));
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
        // One of the sessions is locked; the store does not report which.
        for (const one of batch) this.#commitSeparately(one);
        return undefined;
      }
      if (batch.length === 1) batch[0]?.reject(error);
      else for (const one of batch) await this.#commitIndividually(one);
      return undefined;
    }
  }

  async #write(steps: readonly SettledStep[]): Promise<readonly CommitResult[]> {
    const onDone = this.#onCommit();
    try {
      return await this.#store.commit(steps);
    } finally {
      onDone();
    }
  }

  /** Commits a step of a failed batch alone, so that one bad step does not fail the others. */
  async #commitIndividually(one: PendingStep): Promise<void> {
    const unavailable = await this.#commitBatch([one]);
    if (unavailable !== undefined) this.#pending.push(one);
  }

  /** Commits a step of a locked session apart from the batches, after the earlier steps of its session. */
  #commitSeparately(one: PendingStep): void {
    const name = formatSessionKey(one.step.key);
    const previous = this.#separate.get(name) ?? Promise.resolve();
    const done = previous
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
      const [result] = await this.#write([one.step]);
      if (result !== undefined && !isBusy(result)) one.resolve(result);
      else one.reject(new TypeError('The store returned no final result for a single step.'));
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
