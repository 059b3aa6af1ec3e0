import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { SimulatedClock } from '../../net/index.ts';
import { ForeignDatabaseError, UnsupportedStoreUrlError } from '../../store/index.ts';
import {
  alice,
  event,
  sessionServiceContract,
  readTexts,
} from './contract/session-service-cases.ts';
import { DatabaseSessionService } from './database-session-service.ts';
import { InMemorySessionService } from './in-memory-session-service.ts';
import type { SessionService } from './session-service.ts';
import { SqliteSessionService } from './sqlite-session-service.ts';

async function temporaryFile(): Promise<string> {
  return join(await mkdtemp(join(tmpdir(), 'adk-')), 'sessions.db');
}

const services: readonly {
  readonly name: string;
  readonly open: () => Promise<SessionService>;
}[] = [
  { name: 'InMemorySessionService', open: async () => new InMemorySessionService() },
  {
    name: 'SqliteSessionService',
    open: async () => new SqliteSessionService(await temporaryFile()),
  },
  {
    name: 'DatabaseSessionService',
    open: async () =>
      new DatabaseSessionService(`sqlite+aiosqlite:////${(await temporaryFile()).slice(1)}`),
  },
];

for (const { name: service, open } of services) {
  describe(service, () => {
    for (const { name, check } of sessionServiceContract) {
      it(name, async () => {
        const opened = await open();
        try {
          await check(opened);
        } finally {
          await opened.close();
        }
      });
    }
  });
}

it('sessions in a file are available to the next process that opens it', async () => {
  const file = await temporaryFile();
  const one = new SqliteSessionService(file);
  const session = await one.createSession({ ...alice, sessionId: 's1', state: { a: 1 } });
  await one.appendEvent({ session, event: event('kept') });
  await one.close();
  const two = new SqliteSessionService(`sqlite:////${file.slice(1)}`);
  const read = await two.getSession({ ...alice, sessionId: 's1' });
  assert.deepEqual(readTexts(read?.events ?? []), ['kept']);
  assert.deepEqual(read?.state, { a: 1 });
  await two.close();
});

it('a database file of another ADK is rejected by name and not changed', async () => {
  const file = await temporaryFile();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE sessions (app_name TEXT, user_id TEXT, id TEXT)');
  database.close();
  const service = new SqliteSessionService(file);
  await assert.rejects(service.createSession(alice), ForeignDatabaseError);
});

it('a URL with an unknown scheme is rejected when the service is created', () => {
  assert.throws(() => new DatabaseSessionService('spanner://host/db'), UnsupportedStoreUrlError);
  assert.throws(() => new SqliteSessionService('postgres://host/db'), UnsupportedStoreUrlError);
});

it('lastUpdateTime is the time of the clock, in seconds', async () => {
  const clock = new SimulatedClock(5_000);
  const service = new InMemorySessionService({ clock });
  const session = await service.createSession(alice);
  assert.equal(session.lastUpdateTime, 5);
  await service.close();
});

it('options for PostgreSQL are rejected for other databases, and a connection count of 0 is invalid', () => {
  assert.throws(() => new DatabaseSessionService('x.db', { poolSize: 3 }), /poolSize/);
  const url = 'postgresql+asyncpg://adk@localhost/adk';
  assert.throws(() => new DatabaseSessionService(url, { poolSize: 0 }), /poolSize/);
  assert.throws(() => new DatabaseSessionService(url, { maxOverflow: -1 }), /maxOverflow/);
  assert.ok(new DatabaseSessionService(url, { poolSize: 10, maxOverflow: 5, poolRecycle: 3600 }));
});
