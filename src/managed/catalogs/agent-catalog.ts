import { omitUndefined } from '../../core/internal.ts';
import { canonicalJson } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import type { ManagedAgentDef } from '../interface/agent-def.ts';
import {
  AgentArchivedError,
  AgentNotFoundError,
  AgentVersionConflictError,
} from '../interface/managed-errors.ts';
import type { ManagedAgent, Page, PageOptions } from '../interface/managed-runtime.ts';
import { paginate } from './paginate.ts';
import { parseAgentDef } from '../parsing/parse-agent-def.ts';

const HEADS = 'agent';
const VERSIONS = 'agent-version';

/** The part of an agent that is not versioned. */
interface Head {
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt?: number;
}

interface Version {
  readonly definition: ManagedAgentDef;
  readonly createdAt: number;
}

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

  /** Creates an agent. If an agent with this id exists, it is returned unchanged. */
  async create(definition: ManagedAgentDef, id: string = this.#newId()): Promise<ManagedAgent> {
    const at = this.#clock.now();
    const head: Head = { version: 1, createdAt: at, updatedAt: at };
    const written = await this.#documents.writeDocuments([
      { kind: HEADS, id, version: 0, value: asJson(head) },
      versionDocument(id, 1, { definition, createdAt: at }),
    ]);
    return written.ok ? { id, definition, ...head } : this.get(id);
  }

  /**
   * Returns the newest version, or the given one.
   * @throws AgentNotFoundError if the agent or the version does not exist
   */
  async get(id: string, version?: number): Promise<ManagedAgent> {
    const { head } = await this.#head(id);
    return this.#withVersion(id, head, version ?? head.version);
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
   * @throws AgentVersionConflictError if the agent is not at version `expected`
   * @throws AgentArchivedError if the agent is archived
   * @throws AgentNotFoundError if the agent does not exist
   */
  async update(id: string, definition: ManagedAgentDef, expected: number): Promise<ManagedAgent> {
    const { head, documentVersion } = await this.#head(id);
    if (head.archivedAt !== undefined) throw new AgentArchivedError(id);
    if (head.version !== expected) throw new AgentVersionConflictError(id, head.version, expected);
    const present = await this.#withVersion(id, head, expected);
    if (canonicalJson(asJson(present.definition)) === canonicalJson(asJson(definition)))
      return present;
    const at = this.#clock.now();
    const next: Head = { ...head, version: expected + 1, updatedAt: at };
    const written = await this.#documents.writeDocuments([
      { kind: HEADS, id, version: documentVersion, value: asJson(next) },
      versionDocument(id, next.version, { definition, createdAt: at }),
    ]);
    // Another writer was faster. The retry reads the current version and reports the conflict.
    if (!written.ok) return this.update(id, definition, expected);
    return toManagedAgent(id, next, next.version, { definition, createdAt: at });
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

  async #head(id: string): Promise<{ readonly head: Head; readonly documentVersion: number }> {
    const found = await this.#documents.document(HEADS, id);
    if (found === undefined) throw new AgentNotFoundError(id);
    return { head: asHead(found.value), documentVersion: found.version };
  }

  async #withVersion(id: string, head: Head, version: number): Promise<ManagedAgent> {
    const found = await this.#documents.document(VERSIONS, versionId(id, version));
    if (found === undefined) throw new AgentNotFoundError(id, version);
    return toManagedAgent(id, head, version, asVersion(found.value));
  }
}

function toManagedAgent(
  id: string,
  head: Head,
  version: number,
  { definition }: Version,
): ManagedAgent {
  // Parse again although this class wrote it, so that definitions in an older form are understood.
  return { id, ...head, version, definition: parseAgentDef(definition) };
}

/** Zero-padded, so that ids sort like their numbers. */
function versionId(id: string, version: number): string {
  return `${id}/${String(version).padStart(9, '0')}`;
}

function versionDocument(
  id: string,
  version: number,
  value: Version,
): { kind: string; id: string; version: number; value: Json } {
  return { kind: VERSIONS, id: versionId(id, version), version: 0, value: asJson(value) };
}

function asJson(value: Head | Version | ManagedAgentDef): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all members are JSON; an interface does not express that
  return value as unknown as Json;
}

function asHead(value: Json): Head {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by asJson under the same kind
  return value as unknown as Head;
}

function asVersion(value: Json): Version {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by asJson under the same kind
  return value as unknown as Version;
}
