import { performance } from 'node:perf_hooks';
import * as z from 'zod';
import {
  allOf,
  compile,
  emptyMarking,
  Executor,
  net,
  optional,
  place,
  pure,
} from '../src/net/index.ts';
import type { CompiledNet } from '../src/net/index.ts';
import { median } from './statistics.ts';

export interface NetSpeed {
  readonly firingsPerSecond: number;
  /** Bytes allocated, garbage or not. */
  readonly bytesPerFiring: number;
}

export interface NetSpeeds {
  /** In a net of 10 transitions. */
  readonly small: NetSpeed;
  /** In a net of 1,000. */
  readonly large: NetSpeed;
  /** What a firing of the large net costs, a firing of the small one being 1: measured one right after the other. */
  readonly costRatio: number;
}

/** Few enough that what they allocate is not collected meanwhile. */
const FIRINGS = 1000;

/**
 * What a pure firing costs in a small net and in a large one, every transition of which takes its turn.
 * @throws Error without `--expose-gc`
 */
export async function measureNet({ quick }: { readonly quick: boolean }): Promise<NetSpeeds> {
  const rounds = quick ? 10 : 200;
  const small = ring(10);
  const large = ring(1000);
  const ofSmall: NetSpeed[] = [];
  const ofLarge: NetSpeed[] = [];
  // One after the other, so that both meet the same machine. The first half warms up.
  for (let round = 0; round < 2 * rounds; round++) {
    const both = [fire(small), fire(large)] as const;
    if (round < rounds) continue;
    ofSmall.push(both[0]);
    ofLarge.push(both[1]);
  }
  const costRatio = median(
    ofLarge.map(
      ({ firingsPerSecond }, round) => (ofSmall[round]?.firingsPerSecond ?? NaN) / firingsPerSecond,
    ),
  );
  return { small: medianSpeed(ofSmall), large: medianSpeed(ofLarge), costRatio };
}

/** Places in a ring, with a transition from each to the next. A token goes as many steps on as it says. */
function ring(size: number): CompiledNet {
  const stepsLeft = z.object({ left: z.number() });
  const places = Array.from({ length: size }, (_, index) =>
    place(`ring.place-${index}`, stepsLeft, { environment: index === 0 }),
  );
  const transitions = places.map((from, index) =>
    pure(`ring.step-${index}`, {
      take: { token: from },
      give: allOf({ next: optional(places[(index + 1) % size] ?? from) }),
      run: ({ token: { left } }) => ({ next: left > 1 ? { left: left - 1 } : undefined }),
    }),
  );
  return compile(net('ring', { transitions }));
}

function fire(compiled: CompiledNet): NetSpeed {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  const executor = new Executor(compiled, emptyMarking(), { toFiringId: String });
  executor.settle(0);
  executor.inject('ring.place-0', { left: FIRINGS }, 0);
  globalThis.gc({ type: 'minor' });
  const heapBefore = process.memoryUsage().heapUsed;
  const startedAt = performance.now();
  executor.settle(0);
  const seconds = (performance.now() - startedAt) / 1000;
  const heapAfter = process.memoryUsage().heapUsed;
  const { records } = executor.takeSettled();
  if (records.length !== FIRINGS + 1) throw new Error(`${records.length} records.`);
  return {
    firingsPerSecond: FIRINGS / seconds,
    bytesPerFiring: (heapAfter - heapBefore) / FIRINGS,
  };
}

function medianSpeed(speeds: readonly NetSpeed[]): NetSpeed {
  return {
    firingsPerSecond: median(speeds.map((speed) => speed.firingsPerSecond)),
    bytesPerFiring: median(speeds.map((speed) => speed.bytesPerFiring)),
  };
}
