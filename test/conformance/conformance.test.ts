import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readFixtures } from './fixture.ts';
import { checkPlayed, playFixture } from './play-fixture.ts';

for (const fixture of readFixtures()) {
  test(`${fixture.name}: ${fixture.description}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'petrichor-conformance-'));
    try {
      const store = `sqlite:${join(folder, 'sessions.db')}`;
      checkPlayed(fixture, await playFixture(fixture, { store }));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
