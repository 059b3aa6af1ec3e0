import { deepFreeze, sha256Hex } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { checkArtifactName, checkCustomMetadata, getMimeType } from './artifact-service.ts';
import type { ArtifactKey, ArtifactPart, ArtifactService } from './artifact-service.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

/** What stands beside the bytes of a version. */
interface About {
  readonly name: string;
  readonly saveId: string;
  readonly createdAt: number;
  readonly customMetadata: Readonly<Record<string, string>>;
  /** The part, without what the bytes are. */
  readonly part: ArtifactPart;
}

const MAX_PART_LENGTH = 120;
const HASHED = '~';

/**
 * Artifacts as objects: `app/user/sessions/id/files/name/version` and `app/user/own/files/name/version`, each version the
 * bytes themselves with their type. A version is one object that is made once, so two who save at once get two numbers.
 * Each save says first that it begins: only one that was begun before looks whether it has landed already.
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
    const begun = await this.#objects.create(
      `${artifactFolder(key, 'saves')}/${sha256Hex(saveId)}`,
      {
        bytes: new Uint8Array(),
        contentType: 'application/octet-stream',
        about: '{}',
      },
    );
    if (!begun) {
      const landed = await this.#findVersion(key, saveId);
      if (landed !== undefined) return landed;
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
      ['', 'user:'].map(async (name) => this.#names({ session, name })),
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
      ...(mimeType !== undefined && { mimeType }),
      createdAt,
      customMetadata,
    };
  };

  readonly delete: ArtifactService['delete'] = async (key) => {
    await this.#objects.remove(artifactFolder(key, 'files'));
    await this.#objects.remove(artifactFolder(key, 'saves'));
  };

  /** The version that a save made, if it did. */
  async #findVersion(key: ArtifactKey, saveId: string): Promise<number | undefined> {
    const versions = await this.versions(key);
    for (const version of versions.toReversed()) {
      const about = await this.#objects.about(versionPath(key, version));
      if (about !== undefined && parseAbout(about).saveId === saveId) return version;
    }
    return undefined;
  }

  async #names(key: ArtifactKey): Promise<readonly string[]> {
    const folder = `${ownerFolder(key)}/files`;
    const parts = await this.#objects.list(folder);
    const names = await Promise.all(
      parts.map(async (part) => {
        if (!part.startsWith(HASHED)) return [`${key.name}${decodeURIComponent(part)}`];
        // Too long a name for a path: each version says it.
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
  // Half a surrogate pair would not survive as UTF-8: such a text goes as JSON, like a reference.
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `objectOf`
  return JSON.parse(buffer.toString('utf8')) as ArtifactPart;
}

function parseAbout(text: string): About {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `objectOf`
  return JSON.parse(text) as About;
}

function versionPath(key: ArtifactKey, version: number): string {
  return `${artifactFolder(key, 'files')}/${version}`;
}

function artifactFolder(key: ArtifactKey, what: 'files' | 'saves'): string {
  const own = key.name.startsWith('user:') ? key.name.slice('user:'.length) : key.name;
  return `${ownerFolder(key)}/${what}/${encodePathSegment(own)}`;
}

function ownerFolder({ session, name }: ArtifactKey): string {
  const { appName, userId, sessionId }: SessionKey = session;
  const user = `${encodePathSegment(appName)}/${encodePathSegment(userId)}`;
  return name.startsWith('user:')
    ? `${user}/own`
    : `${user}/sessions/${encodePathSegment(sessionId)}`;
}

/** A name as one part of a path, anywhere: nothing in it parts paths, leads out of a folder or is too long for a file. */
function encodePathSegment(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /[.!~*'()]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  // A dot inside is harmless, and what file names look like.
  const readable = encoded.replaceAll(/(?<=[^.])%2E(?=[^%.]|$)/g, '.');
  return readable.length <= MAX_PART_LENGTH ? readable : `${HASHED}${sha256Hex(name)}`;
}
