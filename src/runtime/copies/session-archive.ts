import { createHash } from 'node:crypto';
import {
  InvalidInputError,
  isPetrichorError,
  checkOptions,
  optionTable,
} from '../../core/index.ts';
import type { SessionKey, OptionTable } from '../../core/index.ts';
import { getErrorCode, isJsonObject } from '../../core/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { ObjectStore } from '../../tools/index.ts';
import { decodePathSegment, encodePathSegment, isHashedSegment } from '../../tools/internal.ts';
import {
  ArchiveUnavailableError,
  DamagedArchiveError,
  SessionNotArchivedError,
} from './archive-errors.ts';
import { compressLines, toGzipSource } from './copy-file.ts';
import { toCopyLines } from './copy-lines.ts';
import { DamagedCopyError } from './damaged-copy-error.ts';
import { checkSessionCopy, importSessionCopy } from './import-session.ts';
import type { ImportedSession, ImportSessionOptions, SessionFile } from './import-session.ts';

const ROOT = 'sessions';
const SUFFIX = '.journal.jsonl.gz';

/** A session and the steps at which it is archived, with those of the agents that it called. */
export interface ArchivedState {
  readonly key: SessionKey;
  readonly sessions: readonly Pick<SessionRow, 'uid' | 'head'>[];
}

/** A copy of a session in an archive. */
export interface ArchivedCopy {
  /** Where it is: for people. */
  readonly uri: string;
  /** In epoch ms. */
  readonly archivedAt: number;
}

/** Selects archived sessions. Default: all. */
export interface ArchiveSelection {
  readonly app?: string;
  readonly user?: string;
  readonly session?: string;
}

/** Options of `SessionArchive`. */
export interface SessionArchiveOptions {
  /** Supplies the time of a copy. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `SessionArchive`. */
export const SESSION_ARCHIVE_OPTIONS: OptionTable = optionTable<SessionArchiveOptions>(
  'SessionArchive',
  {
    clock: true,
  },
);

/**
 * Sessions as compressed journal files in an object store: a folder (`FileObjectStore`), or a bucket (`S3ObjectStore` of
 * `petrichor/artifacts/s3`). A copy is named after its content, at `sessions/APP/USER/SESSION/SHA256.journal.jsonl.gz`. It
 * is written once, and never changed or removed.
 * @example
 * const archive = new SessionArchive(new FileObjectStore('archive'));
 * await archive.restore({ appName: 'shop', userId: 'ada', sessionId: 'trip' }, store);
 */
export class SessionArchive {
  readonly #objects: ObjectStore;
  readonly #clock: Clock;

  constructor(objects: ObjectStore, options: SessionArchiveOptions = {}) {
    if (new.target === SessionArchive) checkOptions(SESSION_ARCHIVE_OPTIONS, options);
    this.#objects = objects;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * Writes the lines of a journal file, reads them back from the archive, and replays its journals as an import does. Writes
   * nothing if there is such a copy. Returns undefined, and writes nothing, if the lines are of another state.
   * @throws ArchiveUnavailableError if the archive cannot be reached; DamagedArchiveError if what was read back is damaged
   */
  async put(
    state: ArchivedState,
    values: AsyncIterable<object> | Iterable<object>,
  ): Promise<ArchivedCopy | undefined> {
    const hash = createHash('sha256');
    const sessions: object[] = [];
    async function* seen(): AsyncGenerator<object, void, undefined> {
      for await (const value of values) {
        if ('type' in value && value.type === 'session') sessions.push(value);
        yield value;
      }
    }
    async function* hashed(): AsyncGenerator<string, void, undefined> {
      for await (const line of toCopyLines(seen())) {
        hash.update(line);
        yield line;
      }
    }
    const bytes = await compressLines(hashed());
    if (!areSameSteps(sessions, state.sessions)) return undefined;
    const path = `${toFolder(state.key)}/${hash.digest('hex')}${SUFFIX}`;
    const uri = this.#objects.getUri(path);
    const archivedAt = this.#clock.now();
    const about = JSON.stringify({ archivedAt });
    const object = { bytes, contentType: 'application/gzip', about };
    const isNew = await this.#reach(path, async () => this.#objects.create(path, object));
    await this.#verify(path, state);
    if (isNew) return { uri, archivedAt };
    return { uri, archivedAt: (await this.#archivedAt(path)) ?? archivedAt };
  }

  /**
   * Adds the newest copy of a session to a store, as `importSession` does. The copy stays in the archive.
   * @throws SessionNotArchivedError, SessionExistsError, DamagedCopyError, ArchiveUnavailableError
   */
  async restore(
    key: SessionKey,
    store: Store,
    options: ImportSessionOptions = {},
  ): Promise<ImportedSession> {
    const [newest] = await this.#listCopies(toFolder(key));
    const source = newest && (await this.#read(newest.path));
    if (source === undefined) throw new SessionNotArchivedError(key, this.#objects.getUri(''));
    // The path says whose copy it is. A file of another session must not come in its place.
    const found = await checkSessionCopy(source);
    if (toFolder(found.key) !== toFolder(key))
      throw new DamagedCopyError(source.name, 'is a copy of another session');
    return importSessionCopy(source, store, { clock: this.#clock, ...options });
  }

  /** The copies of a session, the newest first. @throws ArchiveUnavailableError */
  async copies(key: SessionKey): Promise<readonly ArchivedCopy[]> {
    const copies = await this.#listCopies(toFolder(key));
    return copies.map(({ uri, archivedAt }) => ({ uri, archivedAt }));
  }

  /**
   * Lists the sessions that have a copy, by app, user and id. Each member of the selection saves requests.
   * @throws ArchiveUnavailableError
   */
  async *list(selection: ArchiveSelection = {}): AsyncGenerator<SessionKey, void, undefined> {
    const { app, user, session } = selection;
    for (const appPart of await this.#segments(ROOT, app))
      for (const userPart of await this.#segments(`${ROOT}/${appPart}`, user)) {
        const folder = `${ROOT}/${appPart}/${userPart}`;
        for (const sessionPart of await this.#segments(folder, session)) {
          const parts = [appPart, userPart, sessionPart];
          const key = parts.some(isHashedSegment)
            ? await this.#readKey(`${folder}/${sessionPart}`)
            : toKey(parts);
          if (key !== undefined) yield key;
        }
      }
  }

  /** @throws DamagedArchiveError unless the archive has the copy of this state */
  async #verify(path: string, state: ArchivedState): Promise<void> {
    const stored = await this.#read(path);
    const uri = this.#objects.getUri(path);
    if (stored === undefined) throw new DamagedArchiveError(uri, 'is not there');
    const found = await checkSessionCopy(stored).catch((cause: unknown) => {
      if (!(cause instanceof DamagedCopyError)) throw cause;
      throw new DamagedArchiveError(uri, 'is damaged', { cause });
    });
    if (!hasState(found, state)) throw new DamagedArchiveError(uri, 'is that of another state');
  }

  /** The names below a folder. With a name, only that one, if there is something below it. */
  async #segments(folder: string, name: string | undefined): Promise<readonly string[]> {
    if (name === undefined) {
      const names = await this.#reach(folder, async () => this.#objects.list(folder));
      return names.toSorted();
    }
    const segment = encodePathSegment(name);
    const path = `${folder}/${segment}`;
    const below = await this.#reach(path, async () => this.#objects.list(path));
    return below.length > 0 ? [segment] : [];
  }

  /** Names that are too long for a path are only in the copy. */
  async #readKey(folder: string): Promise<SessionKey | undefined> {
    const [newest] = await this.#listCopies(folder);
    const source = newest && (await this.#read(newest.path));
    return source && (await checkSessionCopy(source)).key;
  }

  async #listCopies(
    folder: string,
  ): Promise<readonly (ArchivedCopy & { readonly path: string })[]> {
    const names = await this.#reach(folder, async () => this.#objects.list(folder));
    const paths = names.filter((name) => name.endsWith(SUFFIX)).map((name) => `${folder}/${name}`);
    const copies = await Promise.all(
      paths.map(async (path) => {
        const archivedAt = await this.#archivedAt(path);
        return { path, uri: this.#objects.getUri(path), archivedAt: archivedAt ?? 0 };
      }),
    );
    return copies.toSorted((one, other) => other.archivedAt - one.archivedAt);
  }

  async #archivedAt(path: string): Promise<number | undefined> {
    const about = await this.#reach(path, async () => this.#objects.about(path));
    return about === undefined ? undefined : parseArchivedAt(about);
  }

  async #read(path: string): Promise<ReturnType<typeof toGzipSource> | undefined> {
    const object = await this.#reach(path, async () => this.#objects.read(path));
    return object && toGzipSource(this.#objects.getUri(path), object.bytes);
  }

  /** An error of an object store can hold headers of its request, so only its name and status are shown. */
  async #reach<T>(path: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (isPetrichorError(error)) throw error;
      throw new ArchiveUnavailableError(this.#objects.getUri(path), describe(error));
    }
  }
}

/** Undefined for folders of another program. */
function toKey(parts: readonly string[]): SessionKey | undefined {
  const [appName, userId, sessionId] = parts.map(decodePathSegment);
  if (appName === undefined || userId === undefined || sessionId === undefined) return undefined;
  return { appName, userId, sessionId };
}

/** @throws InvalidInputError if the key has a part that no session has */
function toFolder({ appName, userId, sessionId }: SessionKey): string {
  for (const [name, part] of Object.entries({ appName, userId, sessionId }))
    if (part === '') throw new InvalidInputError(name, 'must not be empty. Name the session.');
  return [ROOT, ...[appName, userId, sessionId].map(encodePathSegment)].join('/');
}

function hasState(file: SessionFile, { key, sessions }: ArchivedState): boolean {
  return toFolder(file.key) === toFolder(key) && areSameSteps(file.sessions, sessions);
}

function areSameSteps(
  found: readonly { readonly uid?: unknown; readonly head?: unknown }[],
  expected: ArchivedState['sessions'],
): boolean {
  const toNames = (rows: typeof found): string =>
    JSON.stringify(rows.map(({ uid, head }) => JSON.stringify([uid, head])).toSorted());
  return toNames(found) === toNames(expected);
}

function parseArchivedAt(about: string): number | undefined {
  try {
    const value: unknown = JSON.parse(about);
    const at = isJsonObject(value) ? value['archivedAt'] : undefined;
    return typeof at === 'number' && !Number.isNaN(new Date(at).getTime()) ? at : undefined;
  } catch {
    return undefined;
  }
}

function describe(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const metadata: unknown = Reflect.get(error, '$metadata');
  const status: unknown =
    typeof metadata === 'object' && metadata !== null
      ? Reflect.get(metadata, 'httpStatusCode')
      : undefined;
  const name = getErrorCode(error) ?? (error instanceof Error ? error.name : 'unknown');
  return typeof status === 'number' ? `${name}, HTTP status ${status}` : name;
}
