import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable, SessionKey } from '../../core/index.ts';
import { SessionExistsError } from '../../store/internal.ts';
import type { Store, StoreItem } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { importArtifact } from './artifact-item.ts';
import { DamagedCopyError } from './damaged-copy-error.ts';
import { checkItems, readCopy, type CopyForm } from './read-copy.ts';

/** The version of the format of journal files. */
export const JOURNAL_FILE_VERSION = 2;

const JOURNAL_FILE: CopyForm = {
  type: 'journal',
  version: JOURNAL_FILE_VERSION,
  name: 'journal file',
  skips: ['event', 'fork_point'],
};

/** The options of `importSession`. */
export interface ImportSessionOptions {
  /** Where the artifacts of the file are saved. Default: they are left out. */
  readonly artifacts?: ArtifactService;
}

/** The options of `importSession`. */
export const IMPORT_SESSION_OPTIONS: OptionTable = optionTable<ImportSessionOptions>(
  'importSession',
  { artifacts: true },
);

/** What was imported. */
export interface ImportedSession {
  readonly key: SessionKey;
  /** The name of the agent that continues it. */
  readonly agent: string;
  /** Records of its journal. */
  readonly records: number;
  readonly events: number;
  /** Versions of artifacts in the file. */
  readonly artifacts: number;
}

/**
 * Checks a journal file, and adds its session to a store in one transaction, with the sessions of the agents that it
 * called. The session keeps its app, user and id, and has no owner: a runtime with its agent continues it. No call that
 * has finished runs again; calls that were running are decided by their `onCrash`. Definitions that the store does not
 * have are added. Shared state is not in a journal file.
 * @throws DamagedCopyError if the file is damaged, was cut off, has no values, or is no journal file
 * @throws SessionExistsError if the store has the session
 */
export async function importSession(
  file: string,
  store: Store,
  options: ImportSessionOptions = {},
): Promise<ImportedSession> {
  checkOptions(IMPORT_SESSION_OPTIONS, options);
  const found = await checkSessionFile(file);
  if ((await store.find(found.key)) !== undefined) throw new SessionExistsError(found.key);
  const { artifacts } = options;
  if (artifacts !== undefined)
    for await (const item of readCopy(file, JOURNAL_FILE))
      if (item.type === 'artifact') await importArtifact(artifacts, item);
  const items: AsyncIterable<StoreItem> = {
    async *[Symbol.asyncIterator]() {
      for await (const item of readCopy(file, JOURNAL_FILE)) {
        if (item.type === 'artifact') continue;
        const isKnown =
          item.type === 'document' && (await store.document(item.kind, item.id)) !== undefined;
        if (!isKnown) yield item;
      }
    },
  };
  await store.importItems(items);
  return found;
}

/** Reads a whole journal file as a runtime would. @throws DamagedCopyError */
async function checkSessionFile(file: string): Promise<ImportedSession> {
  let root: { readonly key: SessionKey; readonly agent: string } | undefined;
  const counts = { records: 0, events: 0, artifacts: 0 };
  for await (const item of checkItems(readCopy(file, JOURNAL_FILE), file)) {
    if (item.type === 'session') root ??= { key: item.key, agent: item.agent };
    else if (item.type === 'artifact') counts.artifacts++;
    else if (item.type === 'step') {
      counts.records += item.records.length;
      counts.events += item.events.length;
    }
  }
  if (root === undefined) throw new DamagedCopyError(file, 'has no session');
  return { ...root, ...counts };
}
