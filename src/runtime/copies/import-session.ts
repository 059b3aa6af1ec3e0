import { checkOptions, formatSessionKey, optionTable, rootSessionId } from '../../core/index.ts';
import type { Json, OptionTable, SessionKey } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { SessionExistsError } from '../../store/internal.ts';
import type { DocumentItem, SessionRow, Store, StoreItem } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import { importArtifact, type ArtifactItem } from './artifact-item.ts';
import { toFileSource, type CopySource } from './copy-file.ts';
import { DamagedCopyError } from './damaged-copy-error.ts';
import { assertNoDeletion } from './session-deleting-error.ts';
import { planImportTime } from './import-time.ts';
import { checkItems, readCopy, type CopyForm } from './read-copy.ts';

/** The version of the format of journal files. */
export const JOURNAL_FILE_VERSION = 2;

const JOURNAL_FILE: CopyForm = {
  type: 'journal',
  version: JOURNAL_FILE_VERSION,
  name: 'journal file',
  skips: ['event', 'fork_point'],
};

/** The kinds of the documents with the title and the metadata of a session. */
const SESSION_RECORDS: ReadonlySet<string> = new Set(['session', 'session-labels']);

/** The kinds of documents that belong to a session. A file of another origin must not bring, say, an API key. */
const SESSION_DOCUMENTS: ReadonlySet<string> = new Set([
  ...SESSION_RECORDS,
  'session-environment',
  'agent',
  'agent-version',
  'workspace-session',
  'workspace-agent',
]);

/** The options of `importSession`. */
export interface ImportSessionOptions {
  /** Where the artifacts of the file are saved. Default: they are left out. */
  readonly artifacts?: ArtifactService;
  /** Supplies the time of the import, from which retention counts. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `importSession`. */
export const IMPORT_SESSION_OPTIONS: OptionTable = optionTable<ImportSessionOptions>(
  'importSession',
  { artifacts: true, clock: true },
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
 * @throws SessionDeletingError if the deletion of the session has not ended
 */
export async function importSession(
  file: string,
  store: Store,
  options: ImportSessionOptions = {},
): Promise<ImportedSession> {
  checkOptions(IMPORT_SESSION_OPTIONS, options);
  return importSessionCopy(toFileSource(file), store, options);
}

/** A journal file that was checked. */
export interface SessionFile extends ImportedSession {
  /** Its session, and those of the agents that this one called, each with its agent and its last step. */
  readonly sessions: readonly (Pick<SessionRow, 'key' | 'uid' | 'head'> & {
    readonly agent: string;
  })[];
  /** The record of its session, or what it is called without a record, if the file has it. */
  readonly record?: Json;
}

/** How a journal file is imported. */
export interface SessionFileOptions extends ImportSessionOptions {
  /**
   * Called when the file has been checked, before anything is written. Returns the documents that are written instead of
   * those of the file. It throws to refuse the file. Default: those of the file that the store does not have.
   */
  readonly approve?: (file: SessionFile) => Promise<readonly DocumentItem[]>;
}

/** Does what `importSession` does, and lets a caller refuse a file. */
export async function importSessionCopy(
  file: CopySource,
  store: Store,
  { artifacts, clock = systemClock, approve }: SessionFileOptions,
): Promise<ImportedSession> {
  const { sessions, record, ...found } = await checkSessionCopy(file);
  const documents = await approve?.({ ...found, sessions, ...omitUndefined({ record }) });
  if ((await store.find(found.key)) !== undefined) throw new SessionExistsError(found.key);
  await assertNoDeletion(store, found.key);
  const importTime = await planImportTime(store, found.key, clock.now());
  const items = async function* (): AsyncGenerator<StoreItem, void, undefined> {
    for await (const item of readSessionItems(file)) {
      if (item.type === 'artifact') continue;
      const isLeftOut =
        item.type === 'document' &&
        (documents !== undefined || (await store.document(item.kind, item.id)) !== undefined);
      if (!isLeftOut) yield item;
    }
    yield* documents ?? [];
    yield* importTime;
  };
  if (artifacts === undefined || found.artifacts === 0) {
    await store.importItems(items());
    return found;
  }
  // Artifacts cannot be taken back, so the store says first whether it takes the session.
  await rehearse(store, items());
  for await (const item of readSessionItems(file))
    if (item.type === 'artifact') await importArtifact(artifacts, item);
  await store.importItems(items());
  // Until then the session counted as deleted, and a vacuum may have removed artifacts that it had before.
  for await (const item of readSessionItems(file))
    if (item.type === 'artifact' && !(await hasVersion(artifacts, item)))
      await importArtifact(artifacts, item);
  return found;
}

async function hasVersion(
  artifacts: ArtifactService,
  { session, name, version }: ArtifactItem,
): Promise<boolean> {
  return (await artifacts.describe({ session, name }, version)) !== undefined;
}

/** Imports items in a transaction that is rolled back. @throws what the import would throw */
async function rehearse(store: Store, items: AsyncIterable<StoreItem>): Promise<void> {
  const end = new Error('The rehearsal of an import has ended.');
  const endless = async function* (): AsyncGenerator<StoreItem, void, undefined> {
    yield* items;
    throw end;
  };
  await store.importItems(endless()).catch((error: unknown) => {
    if (error !== end) throw error;
  });
}

/** Reads the items of a journal file, and refuses what does not belong to its session. @throws DamagedCopyError */
async function* readSessionItems(
  file: CopySource,
): AsyncGenerator<StoreItem | ArtifactItem, void, undefined> {
  let root: SessionKey | undefined;
  for await (const item of readCopy(file, JOURNAL_FILE)) {
    if (item.type === 'session') root ??= item.key;
    const problem = root === undefined ? 'a line before its session' : findForeign(item, root);
    if (problem !== undefined)
      throw new DamagedCopyError(file.name, `has ${problem}, which no journal file has`);
    yield item;
  }
}

/** What the item is, if it does not belong to the session. */
function findForeign(item: StoreItem | ArtifactItem, root: SessionKey): string | undefined {
  const { appName, userId, sessionId } = root;
  if (item.type === 'session' || item.type === 'artifact') {
    const key = item.type === 'session' ? item.key : item.session;
    const isOwn = key.sessionId === sessionId;
    const isCalled = item.type === 'session' && rootSessionId(key.sessionId) === sessionId;
    const belongs = key.appName === appName && key.userId === userId && (isOwn || isCalled);
    return belongs ? undefined : `the ${item.type} of another session, "${formatSessionKey(key)}"`;
  }
  if (item.type === 'document') {
    const { kind, id } = item;
    const belongs =
      SESSION_DOCUMENTS.has(kind) &&
      (kind !== 'session' || id === sessionId) &&
      (kind !== 'workspace-session' || id === `${userId}/${sessionId}`) &&
      (kind !== 'workspace-agent' || id.startsWith(`${userId}/`));
    return belongs ? undefined : `the document "${id}" of the kind "${kind}"`;
  }
  if (item.type === 'shared' || item.type === 'tombstone' || item.type === 'usage')
    return `a line of the type "${item.type}"`;
  return undefined;
}

/** Reads a whole journal file as a runtime would, and writes nothing. @throws DamagedCopyError */
export async function checkSessionCopy(file: CopySource): Promise<SessionFile> {
  const sessions: SessionFile['sessions'][number][] = [];
  let record: Json | undefined;
  const counts = { records: 0, events: 0, artifacts: 0 };
  for await (const item of checkItems(readSessionItems(file), file.name)) {
    if (item.type === 'session') {
      const { key, agent, uid, head } = item;
      sessions.push({ key, agent, uid, head });
    } else if (item.type === 'document' && SESSION_RECORDS.has(item.kind)) record ??= item.value;
    else if (item.type === 'artifact') counts.artifacts++;
    else if (item.type === 'step') {
      counts.records += item.records.length;
      counts.events += item.events.length;
    }
  }
  const [root] = sessions;
  if (root === undefined) throw new DamagedCopyError(file.name, 'has no session');
  const { key, agent } = root;
  return { key, agent, ...counts, sessions, ...omitUndefined({ record }) };
}
