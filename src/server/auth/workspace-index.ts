import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';
import { readTwoWayPage } from './two-way-page.ts';
import type { IndexPage, IndexQuery, ListRange } from './two-way-page.ts';

export interface IndexEntry {
  readonly id: string;
  readonly value: Json;
}

/** The kinds of the documents that say which agents and sessions a workspace has. */
export const AGENT_INDEX = 'workspace-agent';
export const SESSION_INDEX = 'workspace-session';

/** Index of resources of one kind by workspace. Ids sort by creation time. */
export class WorkspaceIndex {
  readonly #documents: DocumentStore;
  readonly #kind: string;

  constructor(documents: DocumentStore, kind: string) {
    this.#documents = documents;
    this.#kind = kind;
  }

  /** The change that adds an entry if it does not exist. Write it together with other documents. */
  insertion(workspace: string, id: string, value: Json): DocumentChange {
    return { kind: this.#kind, id: `${workspace}/${id}`, version: 0, value };
  }

  /** Adds or replaces an entry. */
  async put(workspace: string, id: string, value: Json): Promise<void> {
    const key = `${workspace}/${id}`;
    const found = await this.#documents.document(this.#kind, key);
    const version = found?.version ?? 0;
    const change = { kind: this.#kind, id: key, version, value };
    const written = await this.#documents.writeDocuments([change]);
    if (!written.ok) await this.put(workspace, id, value);
  }

  async get(workspace: string, id: string): Promise<Json | undefined> {
    return (await this.#documents.document(this.#kind, `${workspace}/${id}`))?.value;
  }

  async remove(workspace: string, id: string): Promise<boolean> {
    const change = await this.removal(workspace, id);
    if (change === undefined) return false;
    return (await this.#documents.writeDocuments([change])).ok || this.remove(workspace, id);
  }

  /** The change that removes an entry. Write it together with others. Undefined: there is no entry. */
  async removal(workspace: string, id: string): Promise<DocumentChange | undefined> {
    const key = `${workspace}/${id}`;
    const found = await this.#documents.document(this.#kind, key);
    return found && { kind: this.#kind, id: key, version: found.version };
  }

  /**
   * Lists the entries for which `toItem` returns a value, newest first by default.
   * @param shared ids of resources that every workspace has, besides its own
   */
  async list<T>(
    workspace: string,
    query: IndexQuery,
    toItem: (entry: IndexEntry) => Promise<T | undefined>,
    shared: readonly string[] = [],
  ): Promise<IndexPage<T>> {
    return readTwoWayPage<IndexEntry & { readonly cursor: string }, T>(
      query,
      async (range) => {
        const own = await this.#read(workspace, range);
        const sign = range.isAscending ? 1 : -1;
        const isAfter = (id: string, other: string | undefined): boolean =>
          other === undefined || sign * compareIds(id, other) > 0;
        // If more own entries follow, the shared ones after the last of these belong to a later read.
        const last = own.length < range.limit ? undefined : own.at(-1)?.id;
        const added = shared.filter(
          (id) =>
            isAfter(id, range.after) &&
            (last === undefined || isAfter(last, id)) &&
            own.every((entry) => entry.id !== id),
        );
        return [...own, ...added.map((id) => ({ id, value: null }))]
          .toSorted((one, other) => sign * compareIds(one.id, other.id))
          .slice(0, range.limit)
          .map((entry) => ({ ...entry, cursor: entry.id }));
      },
      toItem,
    );
  }

  async #read(
    workspace: string,
    { after, isAscending, limit }: ListRange,
  ): Promise<readonly IndexEntry[]> {
    const entries = await this.#documents.documents({
      kind: this.#kind,
      prefix: `${workspace}/`,
      order: isAscending ? 'ascending' : 'descending',
      limit,
      ...omitUndefined({ after: after === undefined ? undefined : `${workspace}/${after}` }),
    });
    return entries.map(({ id, value }) => ({ id: id.slice(workspace.length + 1), value }));
  }
}

/** Ids are ASCII. */
function compareIds(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
