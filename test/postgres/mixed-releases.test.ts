import { after, before, describe, it } from 'node:test';
import type { Store } from '../../src/store/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { mixedReleasesCases } from '../sessions/mixed-releases.ts';
import { startPostgresServer } from './postgres-server.ts';
import type { PostgresServer } from './postgres-server.ts';

describe('two releases on one PostgreSQL database', () => {
  let server: PostgresServer | undefined;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  for (const [index, { name, check }] of mixedReleasesCases.entries())
    it(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const { url } = server;
      const schema = `releases_${process.pid}_${index}`;
      const opened: Store[] = [];
      try {
        await check(async () => {
          const store = await openPostgresStore(url, { schema });
          opened.push(store);
          return store;
        });
      } finally {
        await Promise.all(opened.map(async (store) => store.close()));
      }
    });
});
