import { newSessionId } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { Clock } from '../../net/index.ts';
import { applyInbox } from '../../runtime/internal.ts';
import { createCommitter } from '../../runtime/index.ts';
import type { Committer } from '../../runtime/index.ts';
import type { SessionInit, SessionRow, Store } from '../../store/index.ts';
import { appendOnlyAgent } from './append-only-agent.ts';

/**
 * Applies appended events to sessions that no agent has run yet, then releases the session. From its first message on,
 * a session belongs to its Runner, which applies appended events itself.
 */
export class DetachedSessions {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #owner = `sessions-${newSessionId()}`;
  readonly #agent: Agent = appendOnlyAgent();
  readonly #committer: Committer;

  static async open(store: Store, clock: Clock): Promise<DetachedSessions> {
    const sessions = new DetachedSessions(store, clock);
    await store.join(sessions.#owner);
    return sessions;
  }

  private constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#committer = createCommitter({ store });
  }

  async create(key: SessionKey): Promise<{ readonly row: SessionRow; readonly created: boolean }> {
    return this.#store.create(key, this.initialValues(key));
  }

  initialValues(key: SessionKey): SessionInit {
    return {
      // The sessions of an app are run by the agent of that name: see `AppRuntime`.
      agent: key.appName,
      owner: this.#owner,
      at: this.#clock.now(),
      netHash: this.#agent.compiled.hash,
    };
  }

  /**
   * Applies the inbox of a session that no agent has run yet; does nothing for other sessions.
   * @throws the first error of applying it
   */
  async drive(key: SessionKey): Promise<void> {
    const row = await this.#store.find(key);
    if (row === undefined || row.netHash !== this.#agent.compiled.hash) return;
    await applyInbox(
      {
        store: this.#store,
        committer: this.#committer,
        clock: this.#clock,
        owner: this.#owner,
        agent: this.#agent,
      },
      key,
    );
  }

  async close(): Promise<void> {
    await this.#committer.close();
    await this.#store.leave(this.#owner);
  }
}
