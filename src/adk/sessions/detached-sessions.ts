import { newSessionId } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { Clock } from '../../net/index.ts';
import { SessionBroadcast } from '../../runtime/log/session-broadcast.ts';
import { ModelCallCounts } from '../../runtime/called-agents/model-call-counts.ts';
import { ActiveSessions } from '../../runtime/hosting/active-sessions.ts';
import { createCommitter } from '../../runtime/index.ts';
import type { Committer } from '../../runtime/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { appendOnlyAgent } from './appended-events.ts';

/**
 * Sessions that no agent has run yet: what is appended to them is taken up here, each time as far as it goes, and the
 * session let go of. From the first message on a session is its Runner's, who takes up what is appended then.
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
    return this.#store.create(key, {
      // The sessions of an app are run by the agent of that name: see `withAppendedEvents`.
      agent: key.appName,
      owner: this.#owner,
      at: this.#clock.now(),
      netHash: this.#agent.compiled.hash,
    });
  }

  /** Takes up what waits in the session's inbox, if the session is still at rest. @throws why it could not */
  async drive(key: SessionKey): Promise<void> {
    const row = await this.#store.find(key);
    if (row === undefined || row.netHash !== this.#agent.compiled.hash) return;
    const failures: unknown[] = [];
    const hosts = new ActiveSessions({
      store: this.#store,
      committer: this.#committer,
      clock: this.#clock,
      broadcast: new SessionBroadcast(),
      owner: this.#owner,
      observe: () => {},
      services: {},
      modelCalls: new ModelCallCounts(this.#store),
      runChild: async () => Promise.reject(new Error('A session at rest runs nothing.')),
      calledAgents: undefined,
      findAgent: async () => this.#agent,
      ignoringOwnChanges: async (write) => write(),
      schedule: () => {},
      onError: (error) => failures.push(error),
      isOpen: () => true,
    });
    await hosts.drive(key);
    await hosts.closeAll();
    if (failures.length > 0) throw failures[0];
  }

  async close(): Promise<void> {
    await this.#committer.close();
    await this.#store.leave(this.#owner);
  }
}
