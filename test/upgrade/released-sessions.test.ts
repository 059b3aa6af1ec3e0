/** This version resumes sessions that earlier versions left when their process was killed. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import type { PostgresServer } from '../postgres/postgres-server.ts';
import { adkCases } from './cases/adk-cases.ts';
import { generatorCases } from './cases/generator-cases.ts';
import { listingCases } from './cases/listing-cases.ts';
import { managedCases } from './cases/managed-cases.ts';
import { plainCases } from './cases/plain-cases.ts';
import { dropStore, loadStore } from './postgres-dump.ts';

const cases = [...plainCases, ...managedCases, ...adkCases, ...generatorCases, ...listingCases];
const fixtures = join(import.meta.dirname, 'fixtures');

/** The versions that left sessions, with the folder of each in `fixtures`. */
const versions = { '0.1.0': '.', '9d47cef, with the former names of places': 'former-names' };

for (const [version, folderName] of Object.entries(versions))
  describe(`sessions of ${version} in SQLite`, () => {
    for (const { name, check } of cases)
      it(name, async () => {
        const folder = mkdtempSync(join(tmpdir(), 'petrichor-released-'));
        let store: Store | undefined;
        try {
          await check(async (kind) => {
            const file = join(folder, `${kind}.db`);
            copyFileSync(join(fixtures, folderName, `${kind}.db`), file);
            return (store = await openStore(`sqlite:${file}`));
          });
        } finally {
          await store?.close();
          rmSync(folder, { recursive: true, force: true });
        }
      });
  });

describe('sessions of 0.1.0 in PostgreSQL', () => {
  let server: PostgresServer | undefined;
  let schemas = 0;

  before(async () => {
    server = await startPostgresServer();
  });

  after(async () => {
    await server?.stop();
  });

  for (const { name, check } of cases)
    it(name, async (t) => {
      if (server === undefined) return t.skip('no PostgreSQL for this platform');
      const { url } = server;
      const schema = `released_${process.pid}_${schemas++}`;
      let store: Store | undefined;
      try {
        await check(async (kind) => {
          await loadStore(url, schema, readFileSync(join(fixtures, `${kind}.sql`), 'utf8'));
          // The owner counts as dead at once, without the absence time.
          return (store = await openStore(url, { schema, absenceMs: 0, restartAbsenceMs: 0 }));
        });
      } finally {
        await store?.close();
        await dropStore(url, schema);
      }
    });
});
