import type { QuotaStatus } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { CommittedRecords, Observer } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';
import { WIRE_QUOTA_NAMES, WIRE_QUOTA_SCOPES } from '../http/wire-quota.ts';
import { Counter, Histogram } from './metric.ts';

/** Minimum time between two counts of the sessions. */
const RECOUNT_MS = 10_000;
/** Wait at least this many times as long as the last count took. */
const RECOUNT_INTERVAL_FACTOR = 100;
const COMMIT_BOUNDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Metrics of a server for Prometheus. Pass `observe` to the runtime as an observer, and this object to `createServer`.
 */
export class Metrics {
  readonly #clock: Clock;
  readonly #sessions = new Counter(
    'petrichor_sessions',
    'Sessions in the store, by status.',
    'gauge',
  );
  readonly #turns = new Counter('petrichor_turns_total', 'Turns that ended, by the reason.');
  readonly #firings = new Counter('petrichor_firings_total', 'Firings of transitions.');
  readonly #commits = new Counter('petrichor_commits_total', 'Settled steps that were committed.');
  readonly #commitSeconds = new Histogram(
    'petrichor_commit_seconds',
    'From a settled step to its durability.',
    COMMIT_BOUNDS,
  );
  readonly #readers = new Counter('petrichor_stream_readers', 'Streams that are open.', 'gauge');
  readonly #toolCalls = new Counter(
    'petrichor_tool_calls_total',
    'Tool calls with a result, by outcome.',
  );
  readonly #requests = new Counter(
    'petrichor_http_requests_total',
    'HTTP requests, by method and status.',
  );
  readonly #retained = new Counter(
    'petrichor_retention_sessions_total',
    'Sessions that the retention policy archived, deleted or trimmed, or failed to, by outcome.',
  );
  readonly #retentionTime = new Counter(
    'petrichor_retention_timestamp_seconds',
    'When retention was last up to date: the last pass without a failure, or the start. 0 without a policy.',
    'gauge',
  );
  readonly #quotaRatio = new Counter(
    'petrichor_quota_used_ratio',
    'What is used of a quota, by quota and scope: of all workspaces, or of the workspace that has used most.',
    'gauge',
  );
  #countAgainAt = Number.NEGATIVE_INFINITY;
  #readQuotasAgainAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Observer of the runtime: records what this process commits. */
  readonly observe: Observer = ({ records, events }: CommittedRecords): void => {
    this.#commits.add();
    this.#firings.add(
      {},
      records.filter(({ kind }) => kind === 'fired' || kind === 'started').length,
    );
    const last = records.at(-1);
    if (last !== undefined)
      this.#commitSeconds.observe(Math.max(0, this.#clock.now() - last.at) / 1000);
    for (const event of events) {
      if (event.type === 'turn.ended') this.#turns.add({ reason: event.stopReason });
      if (event.type === 'tool.result') this.#toolCalls.add({ outcome: event.outcome });
    }
  };

  countRequest(method: string, status: number): void {
    this.#requests.add({ method, status: String(status) });
  }

  /** Counts a new stream reader. Call the returned function when the reader has disconnected. */
  trackReader(): () => void {
    this.#readers.add();
    let isOpen = true;
    return () => {
      if (isOpen) this.#readers.add({}, -1);
      isOpen = false;
    };
  }

  /** Counts a session that the retention policy archived, deleted or trimmed, or failed to. */
  countRetained(outcome: 'archived' | 'deleted' | 'trimmed' | 'failed'): void {
    this.#retained.add({ outcome });
  }

  /** Notes that retention is up to date. */
  noteRetention(): void {
    this.#retentionTime.replace([[{}, this.#clock.now() / 1000]]);
  }

  /**
   * All metrics, in the text format of Prometheus.
   * @param readQuotas reads the quotas of the app and of all users
   */
  async text(
    store: Store,
    readQuotas: () => Promise<readonly QuotaStatus[]> = async () => [],
  ): Promise<string> {
    await this.#countSessions(store);
    await this.#compareQuotas(readQuotas);
    return [
      this.#sessions,
      this.#turns,
      this.#firings,
      this.#commits,
      this.#commitSeconds,
      this.#readers,
      this.#toolCalls,
      this.#requests,
      this.#retained,
      this.#retentionTime,
      this.#quotaRatio,
    ]
      .map((metric) => metric.text())
      .join('');
  }

  /** It reads the usage of all users, so it waits like the count of sessions. */
  async #compareQuotas(readQuotas: () => Promise<readonly QuotaStatus[]>): Promise<void> {
    const begin = this.#clock.now();
    if (begin < this.#readQuotasAgainAt) return;
    this.#readQuotasAgainAt = begin + RECOUNT_MS;
    const highest = new Map<string, readonly [Readonly<Record<string, string>>, number]>();
    for (const { quota, scope, limit, used } of await readQuotas()) {
      // A limit of 0 allows nothing: nobody comes near it.
      const ratio = limit === 0 ? 0 : used / limit;
      const labels = { quota: WIRE_QUOTA_NAMES[quota], scope: WIRE_QUOTA_SCOPES[scope] };
      const key = JSON.stringify(labels);
      if (ratio >= (highest.get(key)?.[1] ?? 0)) highest.set(key, [labels, ratio]);
    }
    const end = this.#clock.now();
    this.#readQuotasAgainAt = end + Math.max(RECOUNT_MS, (end - begin) * RECOUNT_INTERVAL_FACTOR);
    this.#quotaRatio.replace([...highest.values()]);
  }

  /** It looks at each session, so it waits longer the longer the last count took. */
  async #countSessions(store: Store): Promise<void> {
    const begin = this.#clock.now();
    if (begin < this.#countAgainAt) return;
    this.#countAgainAt = begin + RECOUNT_MS;
    const counts = new Map<string, number>();
    for (const [status, count] of Object.entries(await store.countSessions({ parent: null }))) {
      const statusLabel = status === 'quarantined' ? 'failed' : status;
      counts.set(statusLabel, (counts.get(statusLabel) ?? 0) + count);
    }
    const end = this.#clock.now();
    this.#countAgainAt = end + Math.max(RECOUNT_MS, (end - begin) * RECOUNT_INTERVAL_FACTOR);
    this.#sessions.replace([...counts].map(([status, count]) => [{ status }, count]));
  }
}
