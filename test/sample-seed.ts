/**
 * The seed of sampled sweeps. `npm test` tries a part of the cases of a sweep, another part in each run; the long tests
 * try all. The run prints its seed, and the environment variable repeats it.
 */
import { randomInt } from 'node:crypto';

export const SEED_VARIABLE = 'PETRICHOR_TEST_SEED';

const MOST_SEEDS = 1_000_000;

/** Chooses the seed, unless the environment has one, and gives it to the processes that start from here. */
export function chooseSampleSeed(): number {
  const given = process.env[SEED_VARIABLE];
  const seed = given === undefined ? randomInt(MOST_SEEDS) : Number(given);
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new Error(`${SEED_VARIABLE} is "${given}"; expected a whole number from 0.`);
  process.env[SEED_VARIABLE] = String(seed);
  return seed;
}

const isChosenHere = process.env[SEED_VARIABLE] === undefined;
/** The seed of this run. A test file that runs alone chooses its own, and prints it. */
export const sampleSeed: number = chooseSampleSeed();
if (isChosenHere) console.error(`Sample seed: ${SEED_VARIABLE}=${sampleSeed}`);

/** A number from 0 to `count - 1`, the same for the same seed and name. Names keep the samples of two sweeps apart. */
export function pickSample(count: number, name: string): number {
  let hash = sampleSeed + 1;
  for (const character of name)
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 2_147_483_647;
  return hash % count;
}
