import { checkOptions, isChildSessionId, optionTable, rootSessionId } from '../../core/index.ts';
import type { OptionTable, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactPart, ArtifactService } from '../../tools/index.ts';

/** How much of a store a session takes, with the sessions of the agents that it called. */
export interface SessionSize {
  readonly key: SessionKey;
  readonly agent: string;
  readonly steps: number;
  /** Bytes of its records as JSON. */
  readonly journalBytes: number;
  /** Bytes of its events as JSON. */
  readonly logBytes: number;
  /** Bytes of its snapshot, its inputs and its row as JSON. */
  readonly otherBytes: number;
  /** Bytes of all versions of its artifacts, without those of its user. 0 without the option `artifacts`. */
  readonly artifactBytes: number;
  /** The sum of the bytes. */
  readonly bytes: number;
}

type Counting = { -readonly [Name in keyof SessionSize]: SessionSize[Name] };

/** The options of `measureSessions`. */
export interface SizeOptions {
  /** The artifacts of the sessions, which are measured too: each version is read. Default: they are left out. */
  readonly artifacts?: ArtifactService;
}

/** The options of `measureSessions`. */
export const SIZE_OPTIONS: OptionTable = optionTable<SizeOptions>('measureSessions', {
  artifacts: true,
});

/**
 * Measures the sessions of a store, the largest first. Reads everything once, as of one moment. The bytes are those of a
 * backup before compression: a database takes less where it compresses or shares long strings, and more for indexes.
 */
export async function measureSessions(
  store: Store,
  options: SizeOptions = {},
): Promise<readonly SessionSize[]> {
  checkOptions(SIZE_OPTIONS, options);
  const { artifacts } = options;
  const sizes = new Map<string, Counting>();
  let current: Counting | undefined;
  const add = (part: 'journalBytes' | 'logBytes' | 'otherBytes', value: unknown): void => {
    if (current === undefined) return;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    current[part] += bytes;
    current.bytes += bytes;
  };
  for await (const item of store.exportItems()) {
    if (item.type === 'session') {
      current = findSize(sizes, item.key);
      if (!isChildSessionId(item.key.sessionId)) current.agent = item.agent;
      add('otherBytes', item);
    } else if (item.type === 'step') {
      if (current !== undefined) current.steps++;
      add('journalBytes', item.records);
      add('logBytes', item.events);
    } else if (item.type === 'snapshot' || item.type === 'input') add('otherBytes', item);
    else current = undefined;
  }
  if (artifacts !== undefined)
    for (const size of sizes.values()) {
      size.artifactBytes = await measureArtifacts(artifacts, size.key);
      size.bytes += size.artifactBytes;
    }
  return [...sizes.values()].toSorted((one, other) => other.bytes - one.bytes);
}

function findSize(sizes: Map<string, Counting>, key: SessionKey): Counting {
  const root = { ...key, sessionId: rootSessionId(key.sessionId) };
  const name = JSON.stringify([root.appName, root.userId, root.sessionId]);
  const empty = {
    steps: 0,
    journalBytes: 0,
    logBytes: 0,
    otherBytes: 0,
    artifactBytes: 0,
    bytes: 0,
  };
  const size = sizes.get(name) ?? { key: root, agent: '', ...empty };
  sizes.set(name, size);
  return size;
}

/** Those of the user belong to no session. */
async function measureArtifacts(artifacts: ArtifactService, session: SessionKey): Promise<number> {
  let bytes = 0;
  for (const name of await artifacts.list(session)) {
    if (name.startsWith('user:')) continue;
    for (const version of await artifacts.versions({ session, name })) {
      const part = await artifacts.load({ session, name }, version);
      if (part !== undefined) bytes += measurePart(part);
    }
  }
  return bytes;
}

/** A reference to a file elsewhere has only its own bytes. */
function measurePart(part: ArtifactPart): number {
  if ('inlineData' in part) return Buffer.byteLength(part.inlineData.data, 'base64');
  return Buffer.byteLength('text' in part ? part.text : JSON.stringify(part));
}
