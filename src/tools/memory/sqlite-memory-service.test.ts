import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSqliteStore } from '../../store/index.ts';
import { memoryServiceContract } from '../contract/memory-service-cases.ts';
import { SqliteMemoryService } from './sqlite-memory-service.ts';

async function inFile(check: (file: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-memory-'));
  try {
    await check(join(folder, 'memory.db'));
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const { name, check } of memoryServiceContract)
  test(`SqliteMemoryService: ${name}`, async () =>
    inFile(async (file) => {
      await using service = new SqliteMemoryService(file);
      await check(service);
    }));

const session = { appName: 'a', userId: 'u', sessionId: '1' } as const;
const entry = {
  id: '1',
  author: 'user',
  at: 1,
  content: { role: 'user', parts: [{ text: 'tulips' }] },
} as const;

test('another process can read the memories in the file, at the same time or later', async () =>
  inFile(async (file) => {
    await using one = new SqliteMemoryService(file);
    await using two = new SqliteMemoryService(file);
    await Promise.all([
      one.add(session, [entry]),
      two.add({ ...session, sessionId: '2' }, [entry]),
    ]);
    assert.equal((await one.search(session, 'tulips')).length, 2);
    await one.close();
    await using next = new SqliteMemoryService(file);
    assert.equal((await next.search(session, 'tulips')).length, 2);
  }));

test('the file of a session store is rejected and not changed', async () =>
  inFile(async (file) => {
    await (await openSqliteStore(file)).close();
    await using service = new SqliteMemoryService(file);
    await assert.rejects(service.search(session, 'x'), { code: 'foreign_database' });
    await (await openSqliteStore(file)).close();
  }));
