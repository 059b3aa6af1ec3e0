import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import type { DocumentChange, DocumentStore } from '../../store/index.ts';

export interface IndexEntry {
  readonly id: string;
  readonly value: Json;
}

export interface IndexPage<T> {
  readonly data: readonly T[];
  readonly next: string | null;
  readonly previous: string | null;
}

export interface IndexQuery {
  readonly limit?: number | undefined;
  readonly page?: string | undefined;
  readonly order?: 'asc' | 'desc' | undefined;
}

const DEFAULT_LIMIT = 20;

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
    const key = `${workspace}/${id}`;
    const found = await this.#documents.document(this.#kind, key);
    if (found === undefined) return false;
    const change = { kind: this.#kind, id: key, version: found.version };
    return (await this.#documents.writeDocuments([change])).ok || this.remove(workspace, id);
  }

  /**
   * Lists the entries for which `toItem` returns a value, newest first by default. The cursor of a page is the last id
   * before it, with a leading `<` if the page goes backwards.
   */
  async list<T>(
    workspace: string,
    { limit = DEFAULT_LIMIT, page, order = 'desc' }: IndexQuery,
    toItem: (entry: IndexEntry) => Promise<T | undefined>,
  ): Promise<IndexPage<T>> {
    const isBackward = page?.startsWith('<') === true;
    const cursor = isBackward ? page.slice(1) : page;
    const found: { readonly id: string; readonly item: T }[] = [];
    let after = cursor;
    for (;;) {
      const isAscending = (order === 'asc') !== isBackward;
      const entries = await this.#documents.documents({
        kind: this.#kind,
        prefix: `${workspace}/`,
        order: isAscending ? 'ascending' : 'descending',
        limit: limit + 1,
        ...omitUndefined({ after: after === undefined ? undefined : `${workspace}/${after}` }),
      });
      for (const entry of entries) {
        const id = entry.id.slice(workspace.length + 1);
        after = id;
        const item = await toItem({ id, value: entry.value });
        if (item !== undefined) found.push({ id, item });
        if (found.length > limit) break;
      }
      if (found.length > limit || entries.length <= limit) break;
    }
    const hasMore = found.length > limit;
    const pageItems = found.slice(0, limit);
    if (isBackward) pageItems.reverse();
    const [first, last] = [pageItems[0]?.id, pageItems.at(-1)?.id];
    const isAfterFirst = isBackward ? hasMore : cursor !== undefined;
    return {
      data: pageItems.map(({ item }) => item),
      next: (isBackward || hasMore) && last !== undefined ? last : null,
      previous: isAfterFirst && first !== undefined ? `<${first}` : null,
    };
  }
}
