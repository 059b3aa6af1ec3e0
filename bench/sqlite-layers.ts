import { performance } from 'node:perf_hooks';
import { StatementSync } from 'node:sqlite';

/** Where the time of a workload on SQLite goes, as shares of its wall time. */
export interface SqliteLayers {
  /** `COMMIT`: the write to the log and its sync. */
  readonly commit: number;
  /** All other statements, with the encoding of their parameters. */
  readonly statements: number;
  /** The runtime, the net, the model and the tools. */
  readonly rest: number;
}

const METHODS = ['run', 'get', 'all'] as const;

/** Runs a workload and measures the time in each statement of `node:sqlite`. The clock reads slow it down a little. */
export async function measureSqliteLayers(body: () => Promise<void>): Promise<SqliteLayers> {
  let commitMs = 0;
  let statementsMs = 0;
  const originals = METHODS.map((method) => ({
    method,
    original: StatementSync.prototype[method],
  }));
  for (const { method, original } of originals)
    Object.defineProperty(StatementSync.prototype, method, {
      configurable: true,
      writable: true,
      value(this: StatementSync, ...values: readonly unknown[]): unknown {
        const startedAt = performance.now();
        try {
          return Reflect.apply(original, this, values);
        } finally {
          const ms = performance.now() - startedAt;
          if (this.sourceSQL === 'COMMIT') commitMs += ms;
          else statementsMs += ms;
        }
      },
    });
  const startedAt = performance.now();
  try {
    await body();
  } finally {
    for (const { method, original } of originals)
      Object.defineProperty(StatementSync.prototype, method, {
        configurable: true,
        writable: true,
        value: original,
      });
  }
  const totalMs = performance.now() - startedAt;
  const commit = commitMs / totalMs;
  const statements = statementsMs / totalMs;
  return { commit, statements, rest: 1 - commit - statements };
}
