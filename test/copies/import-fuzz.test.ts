import { test } from 'node:test';
import { sampleSeed } from '../sample-seed.ts';
import { fuzzImports } from './import-fuzz.ts';

test('a changed journal file is refused and changes nothing, or its session can be read and continued', async () => {
  await fuzzImports(20, sampleSeed);
});
