import { test } from 'node:test';
import { fuzzImports } from '../copies/import-fuzz.ts';

test('of 4,000 changed journal files each is refused, or its session can be read and continued', async (t) => {
  const seed = Math.floor(Math.random() * 1e9);
  t.diagnostic(`seed ${seed}`);
  const { imported, refused } = await fuzzImports(4000, seed);
  t.diagnostic(`${imported} imported, ${refused} refused`);
});
