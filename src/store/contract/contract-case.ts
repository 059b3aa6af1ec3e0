import type { Store } from '../store.ts';

/** What the contract needs of the stores it judges: a place for data, and stores on it. */
export interface StoreHarness {
  /**
   * Opens a store on this harness's data, which is empty at first. Each call stands for another process.
   * A store without durability returns the same one each time.
   */
  open(): Promise<Store>;

  /** Takes all room away from the stores opened so far, until the returned function is called. */
  fill(): () => void;

  /** Closes what is open and removes the data. */
  close(): Promise<void>;
}

/** One promise of a store, as a check that passes or throws. */
export interface StoreContractCase {
  readonly name: string;
  /** Set for a promise that only stores of this durability make. */
  readonly durability?: 'crash';
  readonly check: (makeHarness: () => Promise<StoreHarness>) => Promise<void>;
}

/** A case that runs in a harness of its own, closed whatever happens. */
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
