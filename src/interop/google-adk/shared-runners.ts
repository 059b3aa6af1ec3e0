import { omitUndefined } from '../../core/internal.ts';
import { createHash } from 'node:crypto';
import type { Agent } from '../../agents/index.ts';
import { InMemorySessionService, Runner } from '../../adk/index.ts';
import type { BaseAgent, RunnerOptions } from '../../adk/index.ts';

/** The options of the sessions' runners, as in `petrichor/adk`. */
export type SharedRunnerOptions = Partial<
  Pick<
    RunnerOptions,
    | 'sessionService'
    | 'artifactService'
    | 'memoryService'
    | 'plugins'
    | 'env'
    | 'modelResolver'
    | 'interceptors'
    | 'clock'
    | 'onWarning'
    | 'onError'
  >
>;

interface Shared {
  readonly runner: Runner;
  readonly ownsSessions: boolean;
  users: number;
}

/** A session's use of a shared runner. */
export interface Lease {
  readonly runner: Runner;
  /** True if the session's history is deleted with its net. */
  readonly isTransient: boolean;
  release(): Promise<void>;
}

/** One runner per app, open while a session of the app has a net. */
export class SharedRunners {
  readonly #agent: BaseAgent | Agent;
  readonly #options: SharedRunnerOptions;
  readonly #byApp = new Map<string, Shared>();

  constructor(agent: BaseAgent | Agent, options: SharedRunnerOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  lease(stockAppName: string): Lease {
    const appName = toAppName(stockAppName);
    const shared = this.#byApp.get(appName) ?? this.#createShared(appName);
    shared.users++;
    let released: Promise<void> | undefined;
    return {
      runner: shared.runner,
      isTransient: shared.ownsSessions,
      release: async () => (released ??= this.#release(appName, shared)),
    };
  }

  #createShared(appName: string): Shared {
    const { sessionService, clock, ...rest } = this.#options;
    const runner = new Runner({
      ...rest,
      ...omitUndefined({ clock }),
      agent: this.#agent,
      appName,
      sessionService:
        sessionService ?? new InMemorySessionService(clock === undefined ? {} : { clock }),
      autoCreateSession: true,
    });
    const shared = { runner, ownsSessions: sessionService === undefined, users: 0 };
    this.#byApp.set(appName, shared);
    return shared;
  }

  async #release(appName: string, shared: Shared): Promise<void> {
    if (--shared.users > 0) return;
    this.#byApp.delete(appName);
    await shared.runner.close();
    if (shared.ownsSessions) await shared.runner.sessionService.close();
  }
}

/**
 * Maps an app name to a valid identifier. The mapping is stable, so stored sessions are found
 * again.
 */
function toAppName(stockName: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(stockName) && stockName !== 'user') return stockName;
  const hash = createHash('sha256').update(stockName).digest('hex').slice(0, 8);
  return `_${stockName.replace(/[^A-Za-z0-9_]/g, '_')}_${hash}`;
}
