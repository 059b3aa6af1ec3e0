import { omitUndefined } from '../../core/internal.ts';
import { deepFreeze, sha256Hex } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { getMimeType } from './artifact-service.ts';
import { decodePathSegment, encodePathSegment, isHashedSegment } from './encode-path-segment.ts';
import { checkArtifactName, checkCustomMetadata } from './check-artifact-name.ts';
import type { ArtifactKey, ArtifactPart, ArtifactService } from './artifact-service.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

/** The metadata stored beside the bytes of a version. */
interface About {
  readonly name: string;
  readonly saveId: string;
  readonly createdAt: number;
  readonly customMetadata: Readonly<Record<string, string>>;
  /** The part without its bytes. */
  readonly part: ArtifactPart;
}

/**
 * Stores artifacts as objects. The paths are `app/user/sessions/id/files/name/version` and
 * `app/user/own/files/name/version`; each version is one object: the bytes with their content type.
 *
 * An object is created once and never overwritten, so two concurrent saves get two version numbers.
 * Every save first creates an object that marks its start. Only a save whose mark already exists
 * searches the versions for its own result.
 */
export class ObjectArtifactService implements ArtifactService {
  readonly #objects: ObjectStore;
  readonly #clock: Clock;

  constructor(objects: ObjectStore, clock: Clock = systemClock) {
    this.#objects = objects;
    this.#clock = clock;
  }

  readonly save: ArtifactService['save'] = async (key, part, { saveId, customMetadata = {} }) => {
    checkArtifactName(key.name);
    checkCustomMetadata(customMetadata);
    const isFirstAttempt = await this.#objects.create(
      `${artifactFolder(key, 'saves')}/${sha256Hex(saveId)}`,
      {
        bytes: new Uint8Array(),
        contentType: 'application/octet-stream',
        about: '{}',
      },
    );
    if (!isFirstAttempt) {
      const existing = await this.#findVersion(key, saveId);
      if (existing !== undefined) return existing;
    }
    const { name } = key;
    const createdAt = this.#clock.now();
    const object = toStoredObject(part, { name, saveId, createdAt, customMetadata });
    let version = ((await this.versions(key)).at(-1) ?? -1) + 1;
    while (!(await this.#objects.create(versionPath(key, version), object))) version++;
    return version;
  };

  readonly load: ArtifactService['load'] = async (key, version) => {
    const number = version ?? (await this.versions(key)).at(-1);
    if (number === undefined || number < 0) return undefined;
    const object = await this.#objects.read(versionPath(key, number));
    return object && deepFreeze(fromStoredObject(object));
  };

  readonly list: ArtifactService['list'] = async (session) => {
    const names = await Promise.all(
      ['', 'user:'].map(async (name) => this.#listNames({ session, name })),
    );
    return names.flat().toSorted();
  };

  readonly versions: ArtifactService['versions'] = async (key) =>
    (await this.#objects.list(artifactFolder(key, 'files')))
      .map(Number)
      .filter((version) => Number.isSafeInteger(version))
      .toSorted((a, b) => a - b);

  readonly describe: ArtifactService['describe'] = async (key, version) => {
    const number = version ?? (await this.versions(key)).at(-1);
    if (number === undefined || number < 0) return undefined;
    const path = versionPath(key, number);
    const about = await this.#objects.about(path);
    if (about === undefined) return undefined;
    const { createdAt, customMetadata, part } = parseAbout(about);
    const mimeType = getMimeType(part);
    return {
      version: number,
      canonicalUri: this.#objects.getUri(path),
      ...omitUndefined({ mimeType }),
      createdAt,
      customMetadata,
    };
  };

  readonly delete: ArtifactService['delete'] = async (key) => {
    await this.#objects.remove(artifactFolder(key, 'files'));
    await this.#objects.remove(artifactFolder(key, 'saves'));
  };

  /**
   * Lists the sessions that have or had artifacts, without those of users. A session whose app, user or id is too long for
   * a path is left out.
   */
  async *listSessions(): AsyncGenerator<SessionKey, void, undefined> {
    for (const app of await this.#objects.list(''))
      for (const user of await this.#objects.list(app))
        for (const session of await this.#objects.list(`${app}/${user}/sessions`)) {
          const [appName, userId, sessionId] = [app, user, session].map(decodePathSegment);
          if (appName === undefined || userId === undefined || sessionId === undefined) continue;
          yield { appName, userId, sessionId };
        }
  }

  readonly countBytes: NonNullable<ArtifactService['countBytes']> = async ({ appName, userId }) =>
    this.#objects.countBytes(
      [appName, userId]
        .filter((name) => name !== undefined)
        .map(encodePathSegment)
        .join('/'),
    );

  /** The version that an earlier attempt of the same save created, if it did. */
  async #findVersion(key: ArtifactKey, saveId: string): Promise<number | undefined> {
    const versions = await this.versions(key);
    for (const version of versions.toReversed()) {
      const about = await this.#objects.about(versionPath(key, version));
      if (about !== undefined && parseAbout(about).saveId === saveId) return version;
    }
    return undefined;
  }

  async #listNames(key: ArtifactKey): Promise<readonly string[]> {
    const folder = `${ownerFolder(key)}/files`;
    const parts = await this.#objects.list(folder);
    const names = await Promise.all(
      parts.map(async (part) => {
        if (!isHashedSegment(part)) {
          const name = decodePathSegment(part);
          return name === undefined ? [] : [`${key.name}${name}`];
        }
        // The name was too long for a path and was hashed. The metadata of each version holds it.
        const [version] = await this.#objects.list(`${folder}/${part}`);
        const about = await this.#objects.about(`${folder}/${part}/${version ?? 0}`);
        return about === undefined ? [] : [parseAbout(about).name];
      }),
    );
    return names.flat();
  }
}

function toStoredObject(part: ArtifactPart, about: Omit<About, 'part'>): StoredObject {
  const stored = (shape: ArtifactPart, bytes: Uint8Array): StoredObject => ({
    bytes,
    contentType: getMimeType(part) ?? 'application/json',
    about: JSON.stringify({ ...about, part: shape }),
  });
  if ('inlineData' in part) {
    const { data, ...rest } = part.inlineData;
    return stored({ ...part, inlineData: { ...rest, data: '' } }, Buffer.from(data, 'base64'));
  }
  // Half a surrogate pair cannot be encoded as UTF-8. Such a text is stored as JSON, like a
  // reference.
  if ('text' in part && part.text.isWellFormed())
    return stored({ ...part, text: '' }, Buffer.from(part.text, 'utf8'));
  const shape: ArtifactPart = 'text' in part ? { text: '' } : EMPTY_REFERENCE;
  return { ...stored(shape, Buffer.from(JSON.stringify(part))), contentType: 'application/json' };
}

const EMPTY_REFERENCE: ArtifactPart = { fileData: { mimeType: '', fileUri: '' } };

function fromStoredObject({ bytes, about, contentType }: StoredObject): ArtifactPart {
  const { part } = parseAbout(about);
  const buffer = Buffer.from(bytes);
  if ('inlineData' in part)
    return { ...part, inlineData: { ...part.inlineData, data: buffer.toString('base64') } };
  if ('text' in part && contentType !== 'application/json')
    return { ...part, text: buffer.toString('utf8') };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toStoredObject`
  return JSON.parse(buffer.toString('utf8')) as ArtifactPart;
}

function parseAbout(text: string): About {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `toStoredObject`
  return JSON.parse(text) as About;
}

function versionPath(key: ArtifactKey, version: number): string {
  return `${artifactFolder(key, 'files')}/${version}`;
}

function artifactFolder(key: ArtifactKey, kind: 'files' | 'saves'): string {
  const bareName = key.name.startsWith('user:') ? key.name.slice('user:'.length) : key.name;
  return `${ownerFolder(key)}/${kind}/${encodePathSegment(bareName)}`;
}

function ownerFolder({ session, name }: ArtifactKey): string {
  const { appName, userId, sessionId }: SessionKey = session;
  const user = `${encodePathSegment(appName)}/${encodePathSegment(userId)}`;
  return name.startsWith('user:')
    ? `${user}/own`
    : `${user}/sessions/${encodePathSegment(sessionId)}`;
}
