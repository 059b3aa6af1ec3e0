import { omitUndefined } from '../../core/internal.ts';
import {
  deepFreeze,
  formatSessionKey,
  type SessionKey,
  checkOptions,
  optionTable,
} from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import {
  countPartBytes,
  getMimeType,
  type ArtifactKey,
  type ArtifactPart,
  type ArtifactService,
} from './artifact-service.ts';
import { checkArtifactName, checkCustomMetadata } from './check-artifact-name.ts';

interface Version {
  readonly part: ArtifactPart;
  readonly saveId: string;
  readonly createdAt: number;
  readonly customMetadata: Readonly<Record<string, string>>;
}

/** Options of `InMemoryArtifactService`. */
export interface InMemoryArtifactOptions {
  /** Supplies the creation time of versions. Default: the system clock. */
  readonly clock?: Clock;
}

/** The options of `InMemoryArtifactService`. */
export const IN_MEMORY_ARTIFACT_OPTIONS: OptionTable = optionTable<InMemoryArtifactOptions>(
  'InMemoryArtifactService',
  {
    clock: true,
  },
);

/** Stores artifacts in the memory of this process. They are lost when it ends. */
export class InMemoryArtifactService implements ArtifactService {
  /** By owner (a session or a user), then by name. */
  readonly #artifacts = new Map<string, Map<string, Version[]>>();
  /** App and user of each owner. */
  readonly #owners = new Map<string, readonly [appName: string, userId: string]>();
  readonly #clock: Clock;

  constructor(options: InMemoryArtifactOptions = {}) {
    if (new.target === InMemoryArtifactService) checkOptions(IN_MEMORY_ARTIFACT_OPTIONS, options);
    this.#clock = options.clock ?? systemClock;
  }

  readonly save: ArtifactService['save'] = async (key, part, { saveId, customMetadata = {} }) => {
    checkArtifactName(key.name);
    checkCustomMetadata(customMetadata);
    const owned = this.#artifacts.get(ownerKey(key)) ?? new Map<string, Version[]>();
    const versions = owned.get(key.name) ?? [];
    const known = versions.findIndex((version) => version.saveId === saveId);
    if (known >= 0) return known;
    versions.push({
      part: deepFreeze(structuredClone(part)),
      saveId,
      createdAt: this.#clock.now(),
      customMetadata: { ...customMetadata },
    });
    this.#artifacts.set(ownerKey(key), owned.set(key.name, versions));
    this.#owners.set(ownerKey(key), [key.session.appName, key.session.userId]);
    return versions.length - 1;
  };

  readonly load: ArtifactService['load'] = async (key, version) => {
    const versions = this.#getVersions(key);
    return versions[version ?? versions.length - 1]?.part;
  };

  readonly list: ArtifactService['list'] = async (session) =>
    ['', 'user:']
      .flatMap((name) => [...(this.#artifacts.get(ownerKey({ session, name }))?.keys() ?? [])])
      .toSorted();

  readonly versions: ArtifactService['versions'] = async (key) => [
    ...this.#getVersions(key).keys(),
  ];

  readonly describe: ArtifactService['describe'] = async (key, version) => {
    const versions = this.#getVersions(key);
    const number = version ?? versions.length - 1;
    const found = versions[number];
    if (found === undefined) return undefined;
    const { part, createdAt, customMetadata } = found;
    const mimeType = getMimeType(part);
    return {
      version: number,
      canonicalUri: `memory:${encodeURI(ownerKey(key))}/${encodeURIComponent(key.name)}/${number}`,
      ...omitUndefined({ mimeType }),
      createdAt,
      customMetadata,
    };
  };

  readonly delete: ArtifactService['delete'] = async (key) => {
    this.#artifacts.get(ownerKey(key))?.delete(key.name);
  };

  readonly countBytes: NonNullable<ArtifactService['countBytes']> = async (owner) => {
    let bytes = 0;
    for (const [name, owned] of this.#artifacts) {
      const [appName, userId] = this.#owners.get(name) ?? [];
      if (appName !== owner.appName) continue;
      if (owner.userId !== undefined && userId !== owner.userId) continue;
      for (const versions of owned.values())
        for (const { part } of versions) bytes += countPartBytes(part);
    }
    return bytes;
  };

  #getVersions(key: ArtifactKey): readonly Version[] {
    return this.#artifacts.get(ownerKey(key))?.get(key.name) ?? [];
  }
}

function ownerKey({ session, name }: ArtifactKey): string {
  return name.startsWith('user:') ? userKey(session) : formatSessionKey(session);
}

function userKey({ appName, userId }: SessionKey): string {
  return JSON.stringify([appName, userId]);
}
