import { omitUndefined } from '../../core/internal.ts';
import { applyRetention, parseRetentionPolicy } from '../../runtime/index.ts';
import type { RetentionPolicy, SessionArchive } from '../../runtime/index.ts';
import { assertArchive } from '../../runtime/internal.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { exportSession } from './export-session.ts';
import { removeUnchangedSession } from './remove-session.ts';

/** Interval between the ends of a pass and the next one. */
const INTERVAL_MS = 60 * 60_000;

/** Archives or deletes the sessions that a policy no longer keeps, and trims journals, now and every hour. */
export class RetentionSweep {
  readonly #context: ServerContext;
  readonly #policy: RetentionPolicy;
  readonly #archive: SessionArchive | undefined;
  readonly #metrics: Metrics | undefined;
  readonly #onError: (error: unknown) => void;
  #cancel: () => void = () => {};
  #pass: Promise<void> = Promise.resolve();

  /** @throws InvalidInputError for an invalid policy, or one that needs an archive if there is none */
  constructor(
    context: ServerContext,
    policy: RetentionPolicy,
    options: {
      readonly archive: SessionArchive | undefined;
      readonly metrics: Metrics | undefined;
      readonly onError: (error: unknown) => void;
    },
  ) {
    this.#context = context;
    this.#policy = parseRetentionPolicy(policy);
    this.#archive = options.archive;
    this.#metrics = options.metrics;
    this.#onError = options.onError;
    assertArchive(this.#policy, this.#archive);
    // A first pass that never ends is late one day, too.
    this.#metrics?.noteRetention();
  }

  /** Begins the first pass. */
  start(): void {
    const { clock } = this.#context;
    this.#pass = this.#apply()
      .catch(this.#onError)
      .finally(() => {
        if (this.#isStopping()) return;
        this.#cancel = clock.at(clock.now() + INTERVAL_MS, () => this.start());
      });
  }

  /** Resolves when the session that is being archived or deleted is done. The server is closing or draining then. */
  async close(): Promise<void> {
    this.#cancel();
    await this.#pass;
  }

  async #apply(): Promise<void> {
    const { runtime, store, clock, webhookOutbox } = this.#context;
    const results = applyRetention(store, this.#policy, {
      app: runtime.runtime.app,
      clock,
      ...omitUndefined({ archive: this.#archive }),
      exportSession: (key) =>
        exportSession(this.#context, key, { artifacts: runtime.runtime.artifacts }),
      remove: async (key, condition) => removeUnchangedSession(this.#context, key, condition),
    });
    let failures = 0;
    for await (const { key, outcome, error } of results) {
      if (outcome === 'failed') {
        failures++;
        this.#metrics?.countRetained('failed');
        this.#onError(error);
      }
      if (outcome === 'trimmed') this.#metrics?.countRetained(outcome);
      if (outcome === 'deleted' || outcome === 'archived') {
        this.#metrics?.countRetained(outcome);
        await webhookOutbox.publish(key.userId, key.sessionId, 'session.deleted');
      }
      if (this.#isStopping()) return;
    }
    if (failures === 0) this.#metrics?.noteRetention();
  }

  #isStopping(): boolean {
    const { closing, draining } = this.#context;
    return closing.aborted || draining.aborted;
  }
}
