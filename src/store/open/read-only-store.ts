import { MemoryDocuments } from '../memory/memory-documents.ts';
import { StoreUnavailableError } from '../store-errors.ts';
import { describeStoreUrl } from '../rules/describe-store-url.ts';
import type { DocumentChange, DocumentResult } from '../documents.ts';
import type { Store } from '../store.ts';

/**
 * A view of a store that changes nothing in it. Sessions cannot be claimed, so a runtime on it runs none; documents that
 * are written are kept in memory, so a runtime can name its agents. Every other write is refused.
 * @param url names the store in errors, which do not show its password
 */
export function readOnlyStore(store: Store, url: string): Store {
  const location = describeStoreUrl(url);
  const documents = new DocumentOverlay(store);
  const refuse = async (): Promise<never> => {
    throw new StoreUnavailableError('readonly', location);
  };
  const none = async (): Promise<undefined> => undefined;
  return {
    durability: store.durability,
    join: none,
    leave: none,
    create: async (key, init) => {
      const row = await store.find(key);
      return row === undefined || init.agent !== row.agent ? refuse() : { row, created: false };
    },
    find: store.find.bind(store),
    list: store.list.bind(store),
    countSessions: store.countSessions.bind(store),
    countBytes: store.countBytes.bind(store),
    listUsers: store.listUsers.bind(store),
    claim: async () => ({ ok: false, owned: location }),
    evict: refuse,
    commit: refuse,
    inject: refuse,
    submit: refuse,
    findInput: store.findInput.bind(store),
    inbox: store.inbox.bind(store),
    snapshot: store.snapshot.bind(store),
    steps: store.steps.bind(store),
    listSteps: store.listSteps.bind(store),
    read: store.read.bind(store),
    findRunnable: async () => ({ sessions: [], nextDueAt: undefined }),
    recordHydration: async () => ({ quarantined: false }),
    pendingCalls: store.pendingCalls.bind(store),
    changes: store.changes.bind(store),
    touch: none,
    usage: store.usage.bind(store),
    shared: store.shared.bind(store),
    delete: refuse,
    replace: refuse,
    trim: refuse,
    exportItems: store.exportItems.bind(store),
    importItems: refuse,
    vacuum: refuse,
    subscribe: store.subscribe.bind(store),
    close: store.close.bind(store),
    document: async (kind, id) =>
      (await documents.find(kind))?.get(kind, id) ?? store.document(kind, id),
    documents: async (query) =>
      (await documents.find(query.kind))?.list(query) ?? store.documents(query),
    writeDocuments: async (changes) => documents.write(changes),
  };
}

/** The documents of the kinds that were written. They are copied at the first write of their kind. */
class DocumentOverlay {
  readonly #store: Store;
  readonly #written = new MemoryDocuments();
  readonly #kinds = new Map<string, Promise<void>>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Undefined: no document of the kind was written. */
  async find(kind: string): Promise<MemoryDocuments | undefined> {
    const copied = this.#kinds.get(kind);
    if (copied === undefined) return undefined;
    await copied;
    return this.#written;
  }

  async write(changes: readonly DocumentChange[]): Promise<DocumentResult> {
    for (const { kind } of changes) {
      const copied = this.#kinds.get(kind) ?? this.#copy(kind);
      this.#kinds.set(kind, copied);
      await copied;
    }
    const { result, apply } = this.#written.plan(changes);
    apply();
    return result;
  }

  async #copy(kind: string): Promise<void> {
    for (const document of await this.#store.documents({ kind })) this.#written.put(document);
  }
}
