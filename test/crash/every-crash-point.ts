import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore, openSqliteStore } from '../../src/store/index.ts';
import type { SqliteStore, Store } from '../../src/store/index.ts';
import type { CrashPoint } from './killable-store.ts';
import { pickSample } from '../sample-seed.ts';
import { runWithCrashes } from './turn-crash-points.ts';
import type { TurnOutcome, TurnCrashOptions, StoreHost } from './turn-crash-points.ts';

const points: readonly CrashPoint['point'][] = [
  'before-write',
  'after-write',
  'tool-began',
  'tool-did',
];

/** Runs a test with a store host, and removes its data afterwards. */
export type WithStoreHost = <T>(live: (world: StoreHost) => Promise<T>) => Promise<T>;

export const inMemory: WithStoreHost = async (live) => {
  const store = new MemoryStore();
  return live({ open: async () => store, dropOwner: async () => dropAllOwners(store, store) });
};

export const inSqlite: WithStoreHost = async (live) => {
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-cut-'));
  const stores: SqliteStore[] = [];
  try {
    return await live({
      open: async () => {
        const store = await openSqliteStore(join(folder, 'store.db'), { pollMs: 5 });
        stores.push(store);
        return store;
      },
      dropOwner: async (store) => dropAllOwners(store, store),
    });
  } finally {
    await Promise.all(stores.map(async (store) => store.close()));
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Makes the owners of all sessions leave. */
async function dropAllOwners(store: Store, reader: Store): Promise<void> {
  for (const { owner } of await reader.list({})) if (owner !== null) await store.leave(owner);
}

/** The writes at which a process crashes. A sample has every `stride`th write, and all tools. */
interface Sample {
  readonly stride: number;
  readonly offset: number;
}

/** Runs once for each crash point after the crashes `first`, until a crash point is not reached any more. */
async function eachCrashPoint(
  inWorld: WithStoreHost,
  first: readonly CrashPoint[],
  options: TurnCrashOptions,
  check: (outcome: TurnOutcome, crashes: readonly CrashPoint[]) => Promise<void>,
  { stride, offset }: Sample,
): Promise<void> {
  for (const [index, point] of points.entries()) {
    const step = point.endsWith('-write') ? stride : 1;
    // In a sample, the writes to crash before and those to crash after are different ones.
    for (let nth = 1 + ((index + offset) % step); ; nth += step) {
      const crashes = [...first, { point, nth }];
      const outcome = await inWorld(async (world) => runWithCrashes(world, crashes, options));
      if (outcome.deaths < crashes.length) break;
      await check(outcome, crashes);
    }
  }
}

export interface CrashPlan extends TurnCrashOptions {
  /** Tries every `stride`th write as the first crash point, and as the second. Each run starts at another one. Default: all. */
  readonly stride?: number;
  /** After every `againEvery`th first crash, tries every second crash, or a sample of them. Default: none. */
  readonly againEvery?: number;
  /** The part of the outcome that must be the same with and without crashes. */
  readonly same: (outcome: TurnOutcome) => unknown;
  readonly check?: (outcome: TurnOutcome, crashes: readonly CrashPoint[]) => void;
}

/** Runs a turn with every crash, and with pairs of crashes, and compares the outcomes with a run without crashes. */
export async function everyCrashPoint(
  inWorld: WithStoreHost,
  { againEvery = Infinity, stride = 1, same, check = () => {}, ...options }: CrashPlan,
): Promise<{
  readonly crashes: number;
  readonly pairs: number;
  readonly withoutCrash: TurnOutcome;
}> {
  const withoutCrash = await inWorld(async (world) => runWithCrashes(world, [], options));
  const wanted = same(withoutCrash);
  const sample = { stride, offset: pickSample(stride, 'first crash') };
  const sampleAgain = { stride, offset: pickSample(stride, 'second crash') };
  let crashes = 0;
  let pairs = 0;
  const compare = (outcome: TurnOutcome, where: readonly CrashPoint[]): void => {
    const place = where.map(({ point, nth }) => `${point} ${nth}`).join(', then ');
    assert.deepEqual(same(outcome), wanted, place);
    check(outcome, where);
  };
  const afterFirst = async (outcome: TurnOutcome, first: readonly CrashPoint[]): Promise<void> => {
    compare(outcome, first);
    if (++crashes % againEvery !== 0) return;
    const afterSecond = async (
      secondOutcome: TurnOutcome,
      twoCrashes: readonly CrashPoint[],
    ): Promise<void> => {
      compare(secondOutcome, twoCrashes);
      pairs++;
    };
    await eachCrashPoint(inWorld, first, options, afterSecond, sampleAgain);
  };
  await eachCrashPoint(inWorld, [], options, afterFirst, sample);
  return { crashes, pairs, withoutCrash };
}
