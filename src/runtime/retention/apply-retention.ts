import {
  checkOptions,
  formatSessionKey,
  InvalidInputError,
  isPetrichorError,
  optionTable,
} from '../../core/index.ts';
import type { OptionTable, SessionKey } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import type { CreationPosition, DeleteCondition, SessionRow, Store } from '../../store/index.ts';
import { exportSessionItems } from '../copies/export-session-items.ts';
import { findImportTime } from '../copies/import-time.ts';
import type { ArchivedCopy, SessionArchive } from '../copies/session-archive.ts';
import { trimJournal } from '../journal/trim-journal.ts';
import type { JournalTrimming } from '../journal/trim-journal.ts';
import { listScheduledSessions } from '../schedules/scheduled-sessions.ts';
import {
  assertArchive,
  findObstacle,
  findRule,
  parseRetentionPolicy,
  toCutoff,
  toTrimCutoff,
} from './retention-policy.ts';
import type { RetentionObstacle, RetentionPolicy } from './retention-policy.ts';

const PAGE = 100;

/** The options of `applyRetention`. */
export interface RetentionOptions {
  /** Only the sessions of this application. Default: all. */
  readonly app?: string;
  /** True: nothing is deleted or trimmed, and what would be is listed. Default: false. */
  readonly dryRun?: boolean;
  readonly clock?: Clock;
  /**
   * Deletes a session if the condition holds. Returns false if it does not. Default: the `delete` of the store. Give that
   * of a managed runtime if it has records of the sessions.
   */
  readonly remove?: (key: SessionKey, condition: DeleteCondition) => Promise<boolean>;
  /** Where sessions are archived. Needed by a policy with `archiveAfterDays`. */
  readonly archive?: SessionArchive;
  /**
   * Reads what is archived of a session: the lines of a journal file. Default: its journal, log and inputs, and those of the
   * agents that it called.
   */
  readonly exportSession?: (key: SessionKey) => AsyncIterable<object>;
}

/** The options of `applyRetention`. */
export const RETENTION_OPTIONS: OptionTable = optionTable<RetentionOptions>('applyRetention', {
  app: true,
  dryRun: true,
  clock: true,
  remove: true,
  archive: true,
  exportSession: true,
});

/**
 * What was done with a session that is old enough. `archived`: it is in the archive, and deleted from the store. `trimmed`: the
 * oldest records of its journal are removed. `planned`: a dry run would archive or delete it or, with `trim`, trim its
 * journal. `kept`: its state does not allow it to be deleted. `changed`: it got a message, or was deleted, in the
 * meantime. `failed`: see `error`; the next call tries again.
 */
export interface RetentionResult {
  readonly key: SessionKey;
  /** The name of its agent in its journal. */
  readonly agent: string;
  /** When it got its last record, in epoch ms. */
  readonly lastRecordAt: number;
  readonly outcome: 'deleted' | 'archived' | 'trimmed' | 'planned' | 'kept' | 'changed' | 'failed';
  /**
   * Only if its journal was trimmed or, in a dry run, would be: the last step without records, and their number. Also if it
   * failed for one of its sessions, and not for another.
   */
  readonly trim?: JournalTrimming;
  /** Only if it was archived: where its copy is. */
  readonly copy?: ArchivedCopy;
  /** Only if it was kept. */
  readonly obstacle?: RetentionObstacle;
  /** Only if it failed. */
  readonly error?: unknown;
}

/**
 * Archives or deletes the sessions that a policy no longer keeps, and trims the journals of others, the first created first.
 * Yields what was done with each that is old enough; a session that is kept and trimmed is yielded twice. The sessions of
 * called agents are trimmed as the session that called them. A deletion is conditional: a session that gets a message in the meantime stays. So several processes can do
 * this at once, and a process that is killed leaves each session whole or deleted. A session is archived before it is
 * deleted, and its copy is read back and replayed in between. Sessions that a schedule sends messages to are kept. The age of
 * a session that was imported counts from its import.
 * @throws InvalidInputError for an invalid policy, or one that needs an archive if there is none; StoreUnavailableError if sessions cannot be listed
 */
export async function* applyRetention(
  store: Store,
  policy: RetentionPolicy,
  options: RetentionOptions = {},
): AsyncGenerator<RetentionResult, void, undefined> {
  checkOptions(RETENTION_OPTIONS, options);
  const { app: appName, dryRun = false, clock = systemClock } = options;
  if (typeof dryRun !== 'boolean')
    throw new InvalidInputError('dryRun', 'must be true or false. Pass one of them, or omit it.');
  const checked = parseRetentionPolicy(policy);
  if (!dryRun) assertArchive(checked, options.archive);
  const now = clock.now();
  const cutoffs = checked.rules.flatMap((rule) => [
    toCutoff(rule, now) ?? -Infinity,
    toTrimCutoff(rule, now) ?? -Infinity,
  ]);
  const youngest = Math.max(...cutoffs);
  const pass = new Pass(store, checked, { ...options, dryRun, now });
  let after: CreationPosition | undefined;
  for (;;) {
    // The order of creation has an index, and its positions stay valid when sessions are deleted.
    const rows: readonly SessionRow[] = await store.list({
      ...omitUndefined({ appName, after }),
      parent: null,
      order: 'created',
      direction: 'ascending',
      limit: PAGE,
    });
    for (const row of rows) {
      if (row.createdAt > youngest) return;
      const result = await pass.apply(row);
      if (result !== undefined) yield result;
      if (result !== undefined && result.outcome !== 'kept') continue;
      const trimmed = await pass.trim(row);
      if (trimmed !== undefined) yield trimmed;
    }
    if (rows.length < PAGE) return;
    after = rows.at(-1);
  }
}

/** Applies a policy to sessions, one at a time. */
class Pass {
  readonly #store: Store;
  readonly #policy: RetentionPolicy;
  readonly #now: number;
  readonly #isDryRun: boolean;
  readonly #remove: NonNullable<RetentionOptions['remove']>;
  readonly #archive: SessionArchive | undefined;
  readonly #export: NonNullable<RetentionOptions['exportSession']>;
  /** The sessions that schedules send messages to, by app and user. */
  readonly #scheduled = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(
    store: Store,
    policy: RetentionPolicy,
    options: RetentionOptions & { readonly now: number; readonly dryRun: boolean },
  ) {
    this.#store = store;
    this.#policy = policy;
    this.#now = options.now;
    this.#isDryRun = options.dryRun;
    this.#remove = options.remove ?? (async (key, condition) => store.delete(key, condition));
    this.#archive = options.archive;
    this.#export = options.exportSession ?? ((key) => exportSessionItems(store, key));
  }

  /** Undefined for a session that is not old enough. */
  async apply(root: SessionRow): Promise<RetentionResult | undefined> {
    const rule = findRule(this.#policy, root);
    const cutoff = rule && toCutoff(rule, this.#now);
    if (rule === undefined || cutoff === undefined || root.updatedAt > cutoff) return undefined;
    const { key, agent } = root;
    const { appName, userId, sessionId } = key;
    try {
      const children = await this.#store.list({ appName, userId, parent: sessionId });
      const rows = [root, ...children];
      const lastRecordAt = Math.max(...rows.map(({ updatedAt }) => updatedAt));
      const imported = await findImportTime(this.#store, key);
      if (Math.max(lastRecordAt, imported?.at ?? 0) > cutoff) return undefined;
      const found = { key, agent, lastRecordAt };
      const isScheduled = (await this.#listScheduled(key)).has(sessionId);
      const obstacle = findObstacle(rule, root, children) ?? (isScheduled ? 'schedule' : undefined);
      if (obstacle !== undefined) return { ...found, outcome: 'kept', obstacle };
      if (this.#isDryRun) return { ...found, outcome: 'planned' };
      const sessions = rows.map(({ uid, head }) => ({ uid, head }));
      const documents = imported === undefined ? [] : [imported.removal];
      if (rule.archiveAfterDays === undefined) {
        const isDeleted = await this.#remove(key, { sessions, documents });
        return { ...found, outcome: isDeleted ? 'deleted' : 'changed' };
      }
      const copy = await this.#archive?.put({ key, sessions }, this.#export(key));
      if (copy === undefined || !(await this.#remove(key, { sessions, documents })))
        return { ...found, outcome: 'changed' };
      return { ...found, outcome: 'archived', copy };
    } catch (error) {
      const found = { key, agent, lastRecordAt: root.updatedAt };
      // Another process has deleted the session.
      if (isPetrichorError(error) && error.code === 'session_not_found')
        return { ...found, outcome: 'changed' };
      return { ...found, outcome: 'failed', error };
    }
  }

  /** Undefined for a session without records that are old enough. */
  async trim(root: SessionRow): Promise<RetentionResult | undefined> {
    const rule = findRule(this.#policy, root);
    const upTo = rule && toTrimCutoff(rule, this.#now);
    if (upTo === undefined || root.createdAt > upTo) return undefined;
    const { key, agent, updatedAt: lastRecordAt } = root;
    const found = { key, agent, lastRecordAt };
    const trims: JournalTrimming[] = [];
    let failure: { readonly error: unknown } | undefined;
    try {
      const { appName, userId, sessionId } = key;
      const children = await this.#store.list({ appName, userId, parent: sessionId });
      for (const row of [root, ...children]) {
        // A journal that cannot be loaded is kept as it is.
        if (row.status === 'quarantined') continue;
        const options = { upTo, dryRun: this.#isDryRun };
        try {
          const trim = await trimJournal(this.#store, row.key, options);
          if (trim !== undefined) trims.push(trim);
        } catch (error) {
          if (isPetrichorError(error) && error.code === 'session_not_found') continue;
          // A journal that is damaged does not keep the others whole.
          failure ??= { error };
        }
      }
    } catch (error) {
      failure = { error };
    }
    if (trims.length === 0 && failure === undefined) return undefined;
    const records = trims.reduce((sum, trim) => sum + trim.records, 0);
    const trim = trims[0] && { step: trims[0].step, records };
    const done = { ...found, ...omitUndefined({ trim }) };
    if (failure !== undefined) return { ...done, outcome: 'failed', ...failure };
    return { ...done, outcome: this.#isDryRun ? 'planned' : 'trimmed' };
  }

  async #listScheduled(key: SessionKey): Promise<ReadonlySet<string>> {
    const owner = formatSessionKey({ ...key, sessionId: '' });
    const known = this.#scheduled.get(owner) ?? listScheduledSessions(this.#store, key);
    this.#scheduled.set(owner, known);
    return known;
  }
}
