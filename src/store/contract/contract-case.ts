import type { Store } from '../store.ts';

/** Opens stores for the contract cases, all on the same data. */
export interface StoreHarness {
  /**
   * Opens a store on the data of this harness, which is empty at first. Each call acts as another process.
   * A harness of a store with durability `process` returns the same store each time.
   */
  open(): Promise<Store>;

  /** Fills the disk of the stores opened so far. The returned function frees it. */
  fill(): () => void;

  /** Closes all stores and removes the data. */
  close(): Promise<void>;
}

/** One requirement of a store. `check` rejects when the store violates it. */
export interface StoreContractCase {
  readonly name: string;
  /** The requirement applies only to stores with this durability. Default: every store. */
  readonly durability?: 'crash';
  readonly check: (makeHarness: () => Promise<StoreHarness>) => Promise<void>;
}

/** Creates a case that runs in a new harness and closes it in the end. */
export function storeContractCase(
  name: string,
  check: (harness: StoreHarness) => Promise<void>,
  more: Pick<StoreContractCase, 'durability'> = {},
): StoreContractCase {
  return {
    name,
    ...more,
    check: async (makeHarness) => {
      const harness = await makeHarness();
      try {
        await check(harness);
      } finally {
        await harness.close();
      }
    },
  };
}
