import { omitUndefined } from '../../core/internal.ts';
import { canonicalJson, InvalidInputError } from '../../core/index.ts';
import type { AgentDescription } from '../../agents/index.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';
import {
  AgentArchivedError,
  AgentFromCodeError,
  AgentNotFoundError,
  AgentVersionConflictError,
} from '../interface/managed-errors.ts';
import type {
  DefinedAgent,
  ManagedAgent,
  Page,
  PageOptions,
} from '../interface/managed-runtime.ts';
import { paginate } from './paginate.ts';
import { parseAgentDef } from '../parsing/parse-agent-def.ts';

export const HEADS = 'agent';
export const VERSIONS = 'agent-version';

/** How many versions of an agent from code are compared with its present description. */
const RECENT_VERSIONS = 100;

/** The part of an agent that is not versioned. */
interface Head {
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt?: number;
}

/** What a version of an agent is. An entry without `source` is a definition of an earlier release. */
type VersionContent =
  | { readonly source: 'definition'; readonly definition: ManagedAgentDef }
  | { readonly source: 'code'; readonly description: AgentDescription };

type Version = VersionContent & { readonly createdAt: number };

export interface AgentCatalogOptions {
  readonly documents: DocumentStore;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Stores agent definitions with all their versions. */
export class AgentCatalog {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor({ documents, clock, newId }: AgentCatalogOptions) {
    this.#documents = documents;
    this.#clock = clock;
    this.#newId = newId;
  }

  /**
   * Creates an agent from a definition. If an agent with this id exists, it is returned unchanged.
   * @throws AgentFromCodeError if a program defines it
   */
  async create(definition: ManagedAgentDef, id: string = this.#newId()): Promise<DefinedAgent> {
    const at = this.#clock.now();
    const head: Head = { version: 1, createdAt: at, updatedAt: at };
    const content = { source: 'definition', definition } as const;
    const agent = (await this.#insert(id, head, content)) ?? (await this.get(id));
    return asDefined(agent, 'creating it from a definition');
  }

  /**
   * Records the version of an agent that a program defines. A description that is equal to a recent version gets no new
   * one, so that programs of different releases that start in turns do not add versions.
   * @throws InvalidInputError if the id belongs to a stored definition, which may be private to one workspace
   */
  async recordCode(id: string, description: AgentDescription): Promise<ManagedAgent> {
    const content = { source: 'code', description } as const;
    const found = await this.#documents.document(HEADS, id);
    const at = this.#clock.now();
    if (found === undefined) {
      const head: Head = { version: 1, createdAt: at, updatedAt: at };
      return (await this.#insert(id, head, content)) ?? this.recordCode(id, description);
    }
    const { archivedAt, ...head } = asHead(found.value);
    const { data: recent } = await this.versions(id, { limit: RECENT_VERSIONS });
    if (recent.some(({ source }) => source === 'definition'))
      throw new InvalidInputError(
        'agents',
        `must not have the name "${description.name}": its id "${id}" belongs to a stored definition. Rename the agent.`,
      );
    const text = canonicalJson(asJson(description));
    const same = recent.find(
      (one) => one.source === 'code' && canonicalJson(asJson(one.description)) === text,
    );
    if (same !== undefined && archivedAt === undefined) return same;
    // The program runs the agent again, so that it is no longer archived.
    const next: Head = {
      ...head,
      version: same === undefined ? await this.#nextVersion(id, head) : head.version,
      updatedAt: at,
    };
    const written = await this.#write(
      id,
      next,
      found.version,
      same === undefined ? content : undefined,
    );
    return written
      ? this.#withVersion(id, next, same?.version ?? next.version)
      : this.recordCode(id, description);
  }

  /**
   * Returns the newest version, or the given one.
   * @throws AgentNotFoundError if the agent or the version does not exist
   */
  async get(id: string, version?: number): Promise<ManagedAgent> {
    const { head } = await this.#head(id);
    return this.#withVersion(id, head, version ?? head.version);
  }

  /** Returns the newest version. Undefined if there is no such agent. */
  async find(id: string): Promise<ManagedAgent | undefined> {
    const found = await this.#documents.document(HEADS, id);
    return found === undefined ? undefined : this.get(id);
  }

  async list(
    options: PageOptions & { readonly includeArchived?: boolean } = {},
  ): Promise<Page<ManagedAgent>> {
    return paginate(options, async ({ after, limit }) => {
      const heads = await this.#documents.documents({
        kind: HEADS,
        order: 'descending',
        limit,
        ...omitUndefined({ after }),
      });
      return Promise.all(
        heads.map(async ({ id, value }) => {
          const head = asHead(value);
          const isShown = head.archivedAt === undefined || options.includeArchived === true;
          return {
            id,
            item: isShown ? await this.#withVersion(id, head, head.version) : undefined,
          };
        }),
      );
    });
  }

  async versions(id: string, options: PageOptions = {}): Promise<Page<ManagedAgent>> {
    const { head } = await this.#head(id);
    return paginate(options, async ({ after, limit }) => {
      const found = await this.#documents.documents({
        kind: VERSIONS,
        prefix: `${id}/`,
        order: 'descending',
        limit,
        ...omitUndefined({ after }),
      });
      return found.map((document) => ({
        id: document.id,
        item: toManagedAgent(
          id,
          head,
          Number(document.id.slice(id.length + 1)),
          asVersion(document.value),
        ),
      }));
    });
  }

  /**
   * Stores the next version.
   * @throws AgentFromCodeError if the versions are those of a program
   * @throws AgentVersionConflictError if the agent is not at version `expected`
   * @throws AgentArchivedError if the agent is archived
   * @throws AgentNotFoundError if the agent does not exist
   */
  async update(id: string, definition: ManagedAgentDef, expected: number): Promise<DefinedAgent> {
    const { head, documentVersion } = await this.#head(id);
    if (head.archivedAt !== undefined) throw new AgentArchivedError(id);
    if (head.version !== expected) throw new AgentVersionConflictError(id, head.version, expected);
    const present = asDefined(await this.#withVersion(id, head, expected), 'an update');
    if (canonicalJson(asJson(present.definition)) === canonicalJson(asJson(definition)))
      return present;
    const version = await this.#nextVersion(id, head);
    const next: Head = { ...head, version, updatedAt: this.#clock.now() };
    const content = { source: 'definition', definition } as const;
    // If another writer was faster, the retry reads the current version and reports the conflict.
    return (await this.#write(id, next, documentVersion, content))
      ? { id, ...next, ...content }
      : this.update(id, definition, expected);
  }

  async archive(id: string): Promise<ManagedAgent> {
    const { head, documentVersion } = await this.#head(id);
    if (head.archivedAt !== undefined) return this.#withVersion(id, head, head.version);
    const at = this.#clock.now();
    const next: Head = { ...head, archivedAt: at, updatedAt: at };
    const written = await this.#documents.writeDocuments([
      { kind: HEADS, id, version: documentVersion, value: asJson(next) },
    ]);
    return written.ok ? this.#withVersion(id, next, next.version) : this.archive(id);
  }

  /** Writes the first version of an agent. Returns undefined if the id is taken. */
  async #insert(
    id: string,
    head: Head,
    content: VersionContent,
  ): Promise<ManagedAgent | undefined> {
    const written = await this.#write(id, head, 0, content);
    return written ? this.#withVersion(id, head, head.version) : undefined;
  }

  async #write(
    id: string,
    head: Head,
    documentVersion: number,
    content: VersionContent | undefined,
  ): Promise<boolean> {
    const version =
      content === undefined
        ? []
        : [versionDocument(id, head.version, { ...content, createdAt: head.updatedAt })];
    const { ok } = await this.#documents.writeDocuments([
      { kind: HEADS, id, version: documentVersion, value: asJson(head) },
      ...version,
    ]);
    return ok;
  }

  async #head(id: string): Promise<{ readonly head: Head; readonly documentVersion: number }> {
    const found = await this.#documents.document(HEADS, id);
    if (found === undefined) throw new AgentNotFoundError(id);
    return { head: asHead(found.value), documentVersion: found.version };
  }

  /** A session that was imported can have brought a later version than the newest one here. */
  async #nextVersion(id: string, head: Head): Promise<number> {
    const prefix = `${id}/`;
    const query = { kind: VERSIONS, prefix, order: 'descending', limit: 1 } as const;
    const [last] = await this.#documents.documents(query);
    const stored = last === undefined ? 0 : Number(last.id.slice(prefix.length));
    return Math.max(head.version, stored) + 1;
  }

  async #withVersion(id: string, head: Head, version: number): Promise<ManagedAgent> {
    const found = await this.#documents.document(VERSIONS, versionId(id, version));
    if (found === undefined) throw new AgentNotFoundError(id, version);
    return toManagedAgent(id, head, version, asVersion(found.value));
  }
}

function toManagedAgent(id: string, head: Head, version: number, content: Version): ManagedAgent {
  if (content.source === 'code')
    return { id, ...head, version, source: 'code', description: content.description };
  // Parse again although this class wrote it, so that definitions in an older form are understood.
  const definition = parseAgentDef(content.definition);
  return { id, ...head, version, source: 'definition', definition };
}

/** @throws AgentFromCodeError */
function asDefined(agent: ManagedAgent, action: string): DefinedAgent {
  if (agent.source === 'code') throw new AgentFromCodeError(agent.id, action);
  return agent;
}

/** Zero-padded, so that ids sort like their numbers. */
export function versionId(id: string, version: number): string {
  return `${id}/${String(version).padStart(9, '0')}`;
}

function versionDocument(
  id: string,
  version: number,
  value: Version,
): { kind: string; id: string; version: number; value: Json } {
  return { kind: VERSIONS, id: versionId(id, version), version: 0, value: asJson(value) };
}

function asJson(value: Head | Version | ManagedAgentDef | AgentDescription): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all members are JSON; an interface does not express that
  return value as unknown as Json;
}

function asHead(value: Json): Head {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by asJson under the same kind
  return value as unknown as Head;
}

function asVersion(value: Json): Version {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by asJson under the same kind
  return { source: 'definition', ...(value as object) } as unknown as Version;
}
