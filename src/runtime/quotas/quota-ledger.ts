import {
  isClosedStatus,
  isSessionStatus,
  omitUndefined,
  SCHEDULES_SESSION,
} from '../../core/internal.ts';
import { QuotaExceededError } from '../../core/index.ts';
import type { QuotaName, QuotaStatus } from '../../core/index.ts';
import type { Store, UsageTotal } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { repeatWhileUnavailable } from '../scheduling/repeat-while-unavailable.ts';
import { assertPriced, sumCost } from './model-cost.ts';
import { NextRead } from './next-read.ts';
import { findPeriod } from './quota-period.ts';
import { findUserLimits, listLimits, type Quotas, type SetLimit } from './quotas.ts';
import { StorageMeter } from './storage-meter.ts';

/** How long the usage of earlier days is kept. An answer of yesterday may be committed late. */
const EARLIER_DAYS_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface QuotaLedgerOptions {
  readonly app: string;
  readonly store: Store;
  /** Counted by quotas of storage. */
  readonly artifacts?: ArtifactService | undefined;
  readonly quotas: Quotas;
  readonly now: () => number;
  /** False when reading an unavailable store is not worth another attempt. */
  readonly isOpen: () => boolean;
}

/** The sessions that share limits: those of one user or, without one, all of the app. */
interface Account {
  readonly user: string | undefined;
  readonly limits: readonly SetLimit[];
  /** True: what is used is shown, and not compared. */
  readonly isReport?: boolean;
  /** Bytes that are about to be stored. Default: 0. */
  readonly addedBytes?: number;
}

/**
 * Compares what users have used with their quotas. Nothing is counted here: tokens come from the usage that the store
 * writes in the transaction of each answer, and sessions and schedules from their rows.
 */
export class QuotaLedger {
  readonly #options: QuotaLedgerOptions;
  readonly #storage: StorageMeter;
  readonly #reads = new Map<string, NextRead<readonly UsageTotal[]>>();
  /** What all users used on the days of this month before `today`, as it was at a time. */
  #earlierDays:
    | { readonly today: string; readonly at: number; readonly rows: readonly UsageTotal[] }
    | undefined;

  constructor(options: QuotaLedgerOptions) {
    this.#options = options;
    this.#storage = new StorageMeter({ artifacts: undefined, ...options });
  }

  /**
   * Checks the budgets and the storage of a user and of the app before a model call.
   * @throws QuotaExceededError, ModelPriceMissingError
   */
  async checkModelCall(user: string, model: string): Promise<void> {
    const accounts = this.#listAccounts(
      user,
      (quota) => isBudget(quota) || quota === 'storageBytes',
    );
    if (accounts.some(({ limits }) => limits.some(([quota]) => isMoney(quota))))
      assertPriced(this.#options.quotas.usdPerMillionTokens, model);
    await this.#check(accounts);
  }

  /**
   * Checks the quotas of sessions and storage. `planned` has the user of each session that is about to be created with this one.
   * @throws QuotaExceededError
   */
  async checkNewSession(user: string, planned: readonly string[] = []): Promise<void> {
    await this.#check(
      this.#listAccounts(user, (quota) => quota === 'sessions' || quota === 'storageBytes'),
      planned,
    );
  }

  /** @throws QuotaExceededError */
  async checkNewSchedule(user: string): Promise<void> {
    await this.#check(
      this.#listAccounts(user, (quota) => quota === 'schedules' || quota === 'storageBytes'),
    );
  }

  /** True if someone has a quota of storage. */
  get limitsStorage(): boolean {
    const { app, user, users = {} } = this.#options.quotas;
    return [app, user, ...Object.values(users)].some((limits) =>
      listLimits(limits).some(([quota]) => quota === 'storageBytes'),
    );
  }

  /**
   * Checks that there is room for so many bytes.
   * @throws QuotaExceededError
   */
  async checkStorage(user: string, bytes: number): Promise<void> {
    const accounts = this.#listAccounts(user, (quota) => quota === 'storageBytes');
    const statuses = await Promise.all(
      accounts.map(async (one) => this.#readStatuses({ ...one, addedBytes: bytes })),
    );
    // What fits exactly fits.
    const exceeded = statuses.flat().find(({ used, limit }) => used + bytes > limit);
    if (exceeded !== undefined) throw new QuotaExceededError(exceeded);
    this.#storage.addArtifact(user, bytes);
  }

  /** The quotas of the app. */
  async reportApp(): Promise<readonly QuotaStatus[]> {
    const limits = listLimits(this.#options.quotas.app);
    return this.#readStatuses({ user: undefined, limits, isReport: true });
  }

  /**
   * The quotas of a user or, without one, those of the app, of every user that has limits of its own, and of every other
   * user that uses something.
   */
  async report(user?: string): Promise<readonly QuotaStatus[]> {
    const { quotas } = this.#options;
    if (user !== undefined)
      return this.#readStatuses({
        user,
        limits: listLimits(findUserLimits(quotas, user)),
        isReport: true,
      });
    // One read for all, because users are many.
    const spent = Map.groupBy(await this.#readUsageOfUsers(), (row) => row.user ?? '');
    const known = new Set([...Object.keys(quotas.users ?? {}), ...spent.keys()]);
    const users = new Set([...known, ...(await this.#listOwners())]);
    const statuses = [...(await this.reportApp())];
    // One after the other, so that a report of many users leaves the store to others.
    for (const name of [...users].toSorted()) {
      const limits = listLimits(findUserLimits(quotas, name));
      const account = { user: name, limits, isReport: true };
      const read = await this.#readStatuses(account, spent.get(name) ?? []);
      if (known.has(name) || read.some(({ used }) => used > 0)) statuses.push(...read);
    }
    return statuses;
  }

  /** The users that may have something without a model call of this month. */
  async #listOwners(): Promise<readonly string[]> {
    const { app: appName, store, artifacts, quotas } = this.#options;
    const limited = listLimits(quotas.user).map(([quota]) => quota);
    if (limited.every(isBudget)) return [];
    // The artifacts of a deleted session stay.
    const withDeleted = artifacts?.countBytes !== undefined && limited.includes('storageBytes');
    return store.listUsers({ appName, withDeleted });
  }

  #listAccounts(user: string, isWanted: (quota: QuotaName) => boolean): readonly Account[] {
    const { quotas } = this.#options;
    return [
      { user, limits: listLimits(findUserLimits(quotas, user)) },
      { user: undefined, limits: listLimits(quotas.app) },
    ]
      .map((account) => ({
        ...account,
        limits: account.limits.filter(([quota]) => isWanted(quota)),
      }))
      .filter(({ limits }) => limits.length > 0);
  }

  async #check(accounts: readonly Account[], planned: readonly string[] = []): Promise<void> {
    const statuses = await Promise.all(
      accounts.map(async (one) => {
        const more = planned.filter((user) => one.user === undefined || one.user === user).length;
        const read = await this.#readStatuses(one);
        return read.map((status) =>
          status.quota === 'sessions' ? { ...status, used: status.used + more } : status,
        );
      }),
    );
    const exceeded = statuses.flat().filter(({ used, limit }) => used >= limit);
    // Of several, the one that lasts longest: until then, a repetition fails.
    const [last] = exceeded.toSorted(
      (one, other) => (other.renewsAt ?? Infinity) - (one.renewsAt ?? Infinity),
    );
    if (last !== undefined) throw new QuotaExceededError(last);
  }

  async #readStatuses(
    { user, limits, isReport = false, addedBytes = 0 }: Account,
    known?: readonly UsageTotal[],
  ): Promise<readonly QuotaStatus[]> {
    const now = this.#options.now();
    const needsUsage = limits.some(([quota]) => isBudget(quota));
    const rows = needsUsage ? (known ?? (await this.#readSpent(user))) : [];
    const statuses = limits.map(async ([quota, limit]): Promise<QuotaStatus> => {
      const period = findPeriod(quota, now);
      const used = isBudget(quota)
        ? this.#sum(
            quota,
            rows.filter(({ day = '' }) => day >= (period?.from ?? '')),
          )
        : quota === 'storageBytes'
          ? await this.#measure(user, limit - addedBytes, isReport)
          : await this.#count(quota, user);
      return {
        quota,
        scope: user === undefined ? 'app' : 'user',
        limit,
        used,
        ...omitUndefined({ user, renewsAt: period?.renewsAt }),
      };
    });
    return Promise.all(statuses);
  }

  #sum(quota: QuotaName, rows: readonly UsageTotal[]): number {
    if (isMoney(quota)) return sumCost(rows, this.#options.quotas.usdPerMillionTokens);
    return rows.reduce((sum, { tokens }) => sum + tokens.totalTokens, 0);
  }

  /** What was used since the beginning of the month, by day and model. */
  async #readSpent(user: string | undefined): Promise<readonly UsageTotal[]> {
    const name = user === undefined ? 'app' : `user ${user}`;
    const read = this.#reads.get(name) ?? new NextRead(async () => this.#readUsage(user));
    this.#reads.set(name, read);
    try {
      return await read.get();
    } finally {
      if (read.isIdle) this.#reads.delete(name);
    }
  }

  async #readUsage(user: string | undefined): Promise<readonly UsageTotal[]> {
    const now = this.#options.now();
    const monthStart = findPeriod('tokensPerMonth', now)?.from ?? '';
    if (user !== undefined) return this.#queryUsage(user, monthStart, toLastDay(now));
    // The rows of all users are many, and those of earlier days hardly change.
    const today = findPeriod('tokensPerDay', now)?.from ?? '';
    const known = this.#earlierDays;
    if (known?.today === today && now - known.at < EARLIER_DAYS_MS)
      return [...known.rows, ...(await this.#queryUsage(undefined, today))];
    const rows = await this.#queryUsage(undefined, monthStart);
    this.#earlierDays = { today, at: now, rows: rows.filter(({ day = '' }) => day < today) };
    return rows;
  }

  async #queryUsage(
    user: string | undefined,
    from: string,
    to?: string,
  ): Promise<readonly UsageTotal[]> {
    const { app: appName, store, isOpen } = this.#options;
    const query = { appName, by: ['day', 'model'] as const, from };
    return repeatWhileUnavailable(
      async () => store.usage({ ...query, ...omitUndefined({ userId: user, to }) }),
      { isOpen },
    );
  }

  async #measure(user: string | undefined, limit: number, isReport: boolean): Promise<number> {
    return isReport ? this.#storage.measureNow(user) : this.#storage.measure(user, limit);
  }

  async #count(quota: QuotaName, user: string | undefined): Promise<number> {
    const { app: appName, store } = this.#options;
    const counts = await store.countSessions({
      appName,
      ...omitUndefined({ userId: user }),
      parent: quota === 'schedules' ? SCHEDULES_SESSION : null,
    });
    return Object.entries(counts)
      .filter(([status]) => quota === 'schedules' || !isClosed(status))
      .reduce((sum, [, one]) => sum + one, 0);
  }

  async #readUsageOfUsers(): Promise<readonly UsageTotal[]> {
    const { app: appName, store, now } = this.#options;
    const from = findPeriod('tokensPerMonth', now())?.from;
    const by = ['user', 'day', 'model'] as const;
    return store.usage({ appName, by, ...omitUndefined({ from }) });
  }
}

/** Tomorrow: the clock of another server may be ahead. With a last day, a store reads no rows of other users. */
function toLastDay(now: number): string {
  return new Date(now + DAY_MS).toISOString().slice(0, 10);
}

function isClosed(status: string): boolean {
  return isSessionStatus(status) && isClosedStatus(status);
}

/** True for a quota that renews. */
function isBudget(quota: QuotaName): boolean {
  return findPeriod(quota, 0) !== undefined;
}

function isMoney(quota: QuotaName): boolean {
  return quota.startsWith('usd');
}
