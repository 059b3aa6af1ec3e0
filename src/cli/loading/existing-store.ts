import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PetrichorError } from '../../core/index.ts';
import { openStore, parseStoreUrl, type Store } from '../../store/index.ts';

/** There is nothing to look at: the store's file is not there. It was not made. */
export class NoStoreError extends PetrichorError {
  override readonly code = 'no_store' as const;
  readonly url: string;

  constructor(url: string, problem: string) {
    super(`${problem} Name a store with --store, for example sqlite:petrichor.db.`);
    this.url = url;
  }
}

/**
 * Opens a store to look at what is in it, and closes it after `use`.
 * @throws NoStoreError, and what opening throws.
 */
export async function withExistingStore<T>(
  url: string,
  cwd: string,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const parsed = parseStoreUrl(url);
  if (parsed.kind === 'memory') {
    throw new NoStoreError(
      url,
      'A store in memory ends with its program: there is nothing to see.',
    );
  }
  if (parsed.kind === 'sqlite' && !existsSync(resolve(cwd, parsed.file))) {
    throw new NoStoreError(url, `There is no store at ${parsed.file}.`);
  }
  const store = await openStore(url);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
