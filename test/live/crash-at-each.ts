import type { CrashPoint } from '../crash/killable-store.ts';
import { pickSample } from '../sample-seed.ts';

/**
 * Runs something with a crash at each of these points in turn, until no process reaches the next one.
 * @param stride tries only every `stride`th write, another sample of them in each run; all with 1
 * @param run returns whether a process crashed, and checks what no crash may change
 * @returns the number of crashes
 */
export async function crashAtEach(
  points: readonly CrashPoint['point'][],
  stride: number,
  run: (crash: CrashPoint) => Promise<boolean>,
): Promise<number> {
  let runs = 0;
  const offset = pickSample(stride, 'live crash');
  for (const [index, point] of points.entries()) {
    const step = point.endsWith('-write') ? stride : 1;
    // In a sample, the writes to crash before and those to crash after are different ones.
    for (let nth = 1 + ((index + offset) % step); ; nth += step) {
      try {
        if (!(await run({ point, nth }))) break;
      } catch (error) {
        throw new Error(`crash ${point} ${nth}`, { cause: error });
      }
      runs++;
    }
  }
  return runs;
}
