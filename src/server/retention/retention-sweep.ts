import { isPetrichorError } from '../../core/internal.ts';
import { applyRetention, parseRetentionPolicy } from '../../runtime/index.ts';
import type { RetentionPolicy } from '../../runtime/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { removeUnchangedSession } from './remove-session.ts';

/** Interval between the ends of a pass and the next one. */
const INTERVAL_MS = 60 * 60_000;

/** Deletes the sessions that a policy no longer keeps, now and every hour. */
export class RetentionSweep {
  readonly #context: ServerContext;
  readonly #policy: RetentionPolicy;
  readonly #onError: (error: unknown) => void;
  #cancel: () => void = () => {};
  #pass: Promise<void> = Promise.resolve();

  /** @throws InvalidInputError for an invalid policy */
  constructor(
    context: ServerContext,
    policy: RetentionPolicy,
    { onError }: { readonly onError: (error: unknown) => void },
  ) {
    this.#context = context;
    this.#policy = parseRetentionPolicy(policy);
    this.#onError = onError;
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

  /** Resolves when the session that is being deleted is deleted. The server is closing or draining then. */
  async close(): Promise<void> {
    this.#cancel();
    await this.#pass;
  }

  async #apply(): Promise<void> {
    const { runtime, store, clock, webhookOutbox } = this.#context;
    const results = applyRetention(store, this.#policy, {
      app: runtime.runtime.app,
      clock,
      remove: async (key, condition) => removeUnchangedSession(this.#context, key, condition),
    });
    for await (const { key, outcome, error } of results) {
      if (outcome === 'failed' && !isGone(error)) this.#onError(error);
      if (outcome === 'deleted')
        await webhookOutbox.publish(key.userId, key.sessionId, 'session.deleted');
      if (this.#isStopping()) return;
    }
  }

  #isStopping(): boolean {
    const { closing, draining } = this.#context;
    return closing.aborted || draining.aborted;
  }
}

/** Another process has deleted the session. */
function isGone(error: unknown): boolean {
  return isPetrichorError(error) && error.code === 'session_not_found';
}
