import { test } from 'node:test';
import type { StoreHarness } from '../contract/contract-case.ts';
import { MemoryStore } from './memory-store.ts';
import { storeContract } from '../contract/store-contract.ts';
import { StoreUnavailableError } from '../store-errors.ts';

for (const { name, durability, check } of storeContract) {
  // Its durability is `process`: nothing survives.
  if (durability === 'crash') continue;
  test(`MemoryStore: ${name}`, () => check(makeHarness));
}

async function makeHarness(): Promise<StoreHarness> {
  let full = false;
  const beforeCommit = (): void => {
    if (full) throw new StoreUnavailableError('full', 'in memory');
  };
  const store = new MemoryStore({ failpoints: { beforeCommit } });
  return {
    open: async () => store,
    fill: () => {
      full = true;
      return () => {
        full = false;
      };
    },
    close: () => store.close(),
  };
}
