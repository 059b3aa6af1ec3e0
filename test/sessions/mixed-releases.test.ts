import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { MemoryStore, openSqliteStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { mixedReleasesCases } from './mixed-releases.ts';

describe('two releases on one store in memory', () => {
  for (const { name, check } of mixedReleasesCases)
    it(name, async () => {
      const store = new MemoryStore();
      await check(async () => store);
    });
});

describe('two releases on one SQLite file', () => {
  for (const { name, check } of mixedReleasesCases)
    it(name, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'petrichor-releases-'));
      const opened: Store[] = [];
      try {
        await check(async () => {
          const store = await openSqliteStore(join(folder, 'store.db'), { pollMs: 2 });
          opened.push(store);
          return store;
        });
      } finally {
        await Promise.all(opened.map(async (store) => store.close()));
        rmSync(folder, { recursive: true, force: true });
      }
    });
});

describe('two releases in one process, on one open SQLite store', () => {
  for (const { name, check } of mixedReleasesCases)
    it(name, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'petrichor-releases-'));
      const store = await openSqliteStore(join(folder, 'store.db'), { pollMs: 2 });
      try {
        await check(async () => store);
      } finally {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
      }
    });
});
