import { getHeapSpaceStatistics } from 'node:v8';

const CALLS = 2000;

/**
 * Returns by how many bytes a call grows the old space of V8: the smallest mean of a few rounds, because other code of
 * the process uses that space, too. A round with a full collection does not count.
 */
export function measureOldSpaceGrowth(call: () => void): number {
  const means: number[] = [];
  for (let round = 0; round < 6; round++) {
    const before = readOldSpace();
    for (let n = 0; n < CALLS; n++) call();
    means.push((readOldSpace() - before) / CALLS);
  }
  const counted = means.filter((mean) => mean >= 0);
  return counted.length === 0 ? 0 : Math.min(...counted);
}

function readOldSpace(): number {
  const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space');
  return space?.space_used_size ?? 0;
}
