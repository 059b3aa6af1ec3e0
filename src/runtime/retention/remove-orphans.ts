import { isJsonObject } from '../../core/internal.ts';
import { checkOptions, optionTable, parseSessionKey } from '../../core/index.ts';
import type { Json, OptionTable, SessionKey } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactService, FileArtifactService } from '../../tools/index.ts';
import { SESSION_IMPORTS } from '../copies/import-time.ts';

/** What is younger may belong to a session that is being imported. */
const MIN_AGE_MS = 86_400_000;

/** The options of `removeOrphans`. */
export interface OrphanOptions {
  /** The artifacts of the sessions of the store: in a folder, or in a bucket. Default: they stay. */
  readonly artifacts?: ArtifactService & Pick<FileArtifactService, 'listSessions'>;
  readonly clock?: Clock;
}

/** The options of `removeOrphans`. */
export const ORPHAN_OPTIONS: OptionTable = optionTable<OrphanOptions>('removeOrphans', {
  artifacts: true,
  clock: true,
});

/** What was removed. */
export interface RemovedOrphans {
  /** Artifacts, with all of their versions. */
  readonly artifacts: number;
  /** Records of the imports of sessions. */
  readonly imports: number;
}

/**
 * Removes what sessions left behind that were deleted from this store: their artifacts, without those of users, and the
 * records of their imports. Servers can use the store meanwhile. What is younger than a day stays, and so do the artifacts
 * of sessions that this store never had.
 * @throws StoreUnavailableError, and errors of the artifact service
 */
export async function removeOrphans(
  store: Store,
  options: OrphanOptions = {},
): Promise<RemovedOrphans> {
  checkOptions(ORPHAN_OPTIONS, options);
  const { artifacts, clock = systemClock } = options;
  const before = clock.now() - MIN_AGE_MS;
  return {
    artifacts: artifacts === undefined ? 0 : await removeArtifacts(store, artifacts, before),
    imports: await removeImports(store, before),
  };
}

async function removeArtifacts(
  store: Store,
  artifacts: NonNullable<OrphanOptions['artifacts']>,
  before: number,
): Promise<number> {
  let removed = 0;
  for await (const session of artifacts.listSessions()) {
    if (!(await wasDeleted(store, session))) continue;
    const names = (await artifacts.list(session)).filter((name) => !name.startsWith('user:'));
    const keys = names.map((name) => ({ session, name }));
    const newest = await Promise.all(keys.map(async (key) => artifacts.describe(key)));
    if (newest.some((version) => version !== undefined && version.createdAt > before)) continue;
    for (const key of keys) {
      // It can be imported meanwhile.
      if ((await store.find(session)) !== undefined) break;
      await artifacts.delete(key);
      removed++;
    }
  }
  return removed;
}

async function removeImports(store: Store, before: number): Promise<number> {
  let removed = 0;
  for (const { kind, id, version, value } of await store.documents({ kind: SESSION_IMPORTS })) {
    const { session, at } = readImport(value);
    if (at > before || (await store.find(session)) !== undefined) continue;
    if ((await store.writeDocuments([{ kind, id, version }])).ok) removed++;
  }
  return removed;
}

function readImport(value: Json): { readonly session: SessionKey; readonly at: number } {
  const { session, at } = isJsonObject(value) ? value : {};
  return { session: parseSessionKey(session), at: Number(at) };
}

/** True: the store had the session, and has it no longer. */
async function wasDeleted(store: Store, key: SessionKey): Promise<boolean> {
  if ((await store.find(key)) !== undefined) return false;
  try {
    for await (const _ of store.read(key)) break;
    return false;
  } catch (error) {
    if (error instanceof SessionNotFoundError) return error.deleted;
    throw error;
  }
}
