import assert from 'node:assert/strict';
import { killAt } from './kill-at-boundaries.ts';
import type { MortalOptions } from './kill-at-boundaries.ts';

/** What a client of the scenario sees, whatever happens to its processes. */
const WHOLE: readonly RegExp[] = [
  /status\.running/,
  /agent\.tool_use/,
  /agent\.custom_tool_use/,
  /agent\.message/,
  /status\.idle/,
  /status\.running/,
  /agent\.message/,
  /status\.idle/,
  /status\.archived/,
  /done/,
];

/** False when there is no such commit. @throws AssertionError */
export async function checkKill(point: MortalOptions['point'], nth: number): Promise<boolean> {
  const { killed, seen, all } = await killAt(point, nth);
  // What was seen stays true: the same events under the same numbers.
  assert.deepEqual(all.slice(0, seen.length), seen);
  assert.equal(all.length, WHOLE.length, `after a kill ${point} commit ${nth}: ${all.join('; ')}`);
  for (const [index, line] of all.entries()) assert.match(line, WHOLE[index] ?? /none/);
  const numbers = all.slice(0, -1).map((line) => Number.parseInt(line, 10));
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(numbers).size, numbers.length);
  return killed;
}
