import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { PetrichorError } from '../../core/index.ts';
import { openStore, parseStoreUrl, type Store } from '../../store/index.ts';

/**
 * There is no store to read: its file does not exist, or it is in memory. It was not created.
 * @remedy Name a store with `--store`, for example `sqlite:petrichor.db`.
 */
export class NoStoreError extends PetrichorError {
  override readonly code = 'no_store' as const;
  readonly url: string;

  constructor(url: string, problem: string) {
    super(`${problem} Name a store with --store, for example sqlite:petrichor.db.`);
    this.url = url;
  }
}

/**
 * Opens an existing store for `use`, and closes it afterwards.
 * @throws NoStoreError if it does not exist; the errors of opening it
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
      'A store in memory ends with its program, so it has no sessions to read.',
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
