import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable, SessionKey } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Store, StoreItem } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { exportArtifacts, importArtifact, type ArtifactItem } from './artifact-item.ts';
import { toFileSource, writeCopyFile } from './copy-file.ts';
import { toCopyLines } from './copy-lines.ts';
import { checkItems, readCopy, type CopyForm } from './read-copy.ts';

/** The version of the format of backups. */
const VERSION = 1;

/** The options of `writeBackup` and `restoreBackup`. */
export interface BackupOptions {
  /** Default: artifacts are left out. A backup with artifacts is restored only with it. */
  readonly artifacts?: ArtifactService;
  readonly clock?: Clock;
}

/** The options of `writeBackup` and `restoreBackup`. */
export const BACKUP_OPTIONS: OptionTable = optionTable<BackupOptions>('backup', {
  artifacts: true,
  clock: true,
});

const BACKUP: CopyForm = { type: 'backup', version: VERSION, name: 'backup' };

/** How much a backup has. */
export interface BackupCounts {
  /** Sessions, with those of called agents. */
  readonly sessions: number;
  readonly steps: number;
  readonly records: number;
  readonly events: number;
  readonly documents: number;
  /** Versions of artifacts. */
  readonly artifacts: number;
}

/**
 * Writes everything that a store has as of one moment to a file, while other processes use the store. The file is
 * compressed with gzip if its name ends in `.gz`. An existing file is replaced when the new one is whole. Artifacts that
 * are saved during the backup may be in it.
 * @throws StoreUnavailableError, StoreCorruptError, and errors of the file system
 */
export async function writeBackup(
  store: Store,
  file: string,
  options: BackupOptions = {},
): Promise<BackupCounts> {
  checkOptions(BACKUP_OPTIONS, options);
  const { artifacts, clock = systemClock } = options;
  const counts = new ItemCounter();
  async function* values(): AsyncGenerator<object, void, undefined> {
    yield { type: 'backup', version: VERSION, createdAt: clock.now() };
    const sessions: SessionKey[] = [];
    for await (const item of store.exportItems()) {
      counts.add(item);
      if (item.type === 'session') sessions.push(item.key);
      yield item;
    }
    if (artifacts === undefined) return;
    for await (const item of exportArtifacts(artifacts, sessions)) {
      counts.add(item);
      yield item;
    }
  }
  await writeCopyFile(file, toCopyLines(values()));
  return counts.counts;
}

/**
 * Checks a backup, and writes it to an empty store in one transaction. The journal of each session is replayed, and the
 * checksum of the file is compared, before anything is written. Artifacts are saved first; a repeated restore does not
 * save them again. The sessions have no owner afterwards: a runtime continues them, and decides by `onCrash` about calls
 * that were running.
 * @throws DamagedCopyError if the file is damaged, was cut off, or is no backup
 * @throws StoreNotEmptyError if the store has something
 * @throws InvalidInputError if the backup has artifacts, and `artifacts` is missing
 */
export async function restoreBackup(
  file: string,
  store: Store,
  options: BackupOptions = {},
): Promise<BackupCounts> {
  checkOptions(BACKUP_OPTIONS, options);
  const { artifacts } = options;
  const counts = await checkBackup(file);
  if (counts.artifacts > 0) {
    if (artifacts === undefined)
      throw new InvalidInputError(
        'artifacts',
        `is missing, and ${file} has ${counts.artifacts} versions of artifacts. Name where to save them.`,
      );
    // An empty import checks that the store is empty.
    await store.importItems(fromArray([]), { isWholeStore: true });
    for await (const item of readCopy(toFileSource(file), BACKUP))
      if (item.type === 'artifact') await importArtifact(artifacts, item);
  }
  const items: AsyncIterable<StoreItem> = {
    async *[Symbol.asyncIterator]() {
      for await (const item of readCopy(toFileSource(file), BACKUP))
        if (item.type !== 'artifact') yield item;
    },
  };
  await store.importItems(items, { isWholeStore: true });
  return counts;
}

/**
 * Reads a whole backup as a runtime would, and writes nothing.
 * @throws DamagedCopyError
 */
export async function checkBackup(file: string): Promise<BackupCounts> {
  const counts = new ItemCounter();
  for await (const item of checkItems(readCopy(toFileSource(file), BACKUP), file)) counts.add(item);
  return counts.counts;
}

class ItemCounter {
  readonly #numbers = { sessions: 0, steps: 0, records: 0, events: 0, documents: 0, artifacts: 0 };

  get counts(): BackupCounts {
    return { ...this.#numbers };
  }

  add(item: StoreItem | ArtifactItem): void {
    if (item.type === 'session') this.#numbers.sessions++;
    else if (item.type === 'document') this.#numbers.documents++;
    else if (item.type === 'artifact') this.#numbers.artifacts++;
    else if (item.type === 'step') {
      this.#numbers.steps++;
      this.#numbers.records += item.records.length;
      this.#numbers.events += item.events.length;
    }
  }
}

async function* fromArray<T>(items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}
