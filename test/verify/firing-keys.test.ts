/** Runs nets whose key functions read every field of firings and tokens, and compares each marking with the explored ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import {
  all,
  allOf,
  applyRecord,
  compile,
  effect,
  emptyMarking,
  Executor,
  matching,
  net,
  place,
  pure,
  running,
} from '../../src/net/index.ts';
import type { CompiledNet, Marking } from '../../src/net/index.ts';
import { withoutAttempt } from '../../src/net/language/firing-token.ts';
import type { FiringKeySource } from '../../src/net/language/firing-token.ts';
import { expand } from '../../src/verify/system/expand.ts';
import { encodeMarking, reachableMarkings } from '../../src/verify/search/search.ts';
import { TransitionSystem } from '../../src/verify/system/transition-system.ts';
import { Random } from './random.ts';

const NETS = 40;
const RUNS = 12;

const schema = z.object({ id: z.string(), group: z.string() });
type Job = z.infer<typeof schema>;
type Key = (firing: FiringKeySource<{ readonly job: Job }>) => string;

/** What a key function can read of a firing. */
const firingKeys: Readonly<Record<string, Key>> = {
  firingId: ({ firingId }) => firingId,
  startedAt: ({ startedAt }) => String(startedAt % 3),
  'inputs.job.id': ({ inputs }) => inputs.job.id,
  'inputs.job.group': ({ inputs }) => inputs.job.group,
  'a whole input': ({ inputs }) => JSON.stringify(inputs.job),
  'the names of the inputs': ({ inputs }) => Object.keys(inputs).join(),
  'the whole firing': (firing) => JSON.stringify(firing),
  'a copy of the firing': (firing) => JSON.stringify({ ...firing }),
  'its fields': (firing) => Object.keys(firing).join(),
  'a field that some inputs lack': ({ inputs }) => {
    if (inputs.job.group === 'b') throw new Error('no key');
    return inputs.job.id;
  },
};

const tokenKeys: Readonly<Record<string, (token: Job) => string>> = {
  id: ({ id }) => id,
  group: ({ group }) => group,
  both: (token) => JSON.stringify(token),
  none: () => 'x',
};

interface Case {
  readonly net: CompiledNet;
  readonly mayThrow: boolean;
  readonly name: string;
}

function createCase(random: Random): Case {
  const job = place('job', schema, { environment: true });
  const signal = place('signal', schema, { environment: true });
  const done = place('done', schema);
  const cancelled = place('cancelled', schema);
  const paired = place('paired', schema);
  const firingKey = random.pick(Object.keys(firingKeys));
  const tokenKey = random.pick(Object.keys(tokenKeys));
  const getKey = firingKeys[firingKey] ?? (() => '');
  const getTokenKey = tokenKeys[tokenKey] ?? (() => '');
  const work = effect('work', {
    take: { job },
    give: allOf({ done }),
    retry: { attempts: 2, backoff: '1s..1s' },
    onCrash: random.pick(['rerun', 'unknown'] as const),
    timeoutMs: 40,
    failed: (_, tokens) => ({ done: tokens.job }),
    run: () => new Promise<never>(() => {}),
  });
  const flying = running(work);
  const cancel = pure('cancel', {
    priority: random.pick([0, 1]),
    take: {
      work: random.chance(0.7)
        ? matching(flying, getKey)
        : matching(all(flying, { min: 0 }), getKey),
      signal: matching(signal, getTokenKey),
    },
    give: allOf({ cancelled }),
    run: ({ signal: one }) => ({ cancelled: one }),
  });
  const pair = pure('pair', {
    take: { one: matching(done, getTokenKey), other: matching(cancelled, getTokenKey) },
    give: allOf({ paired }),
    run: ({ one }) => ({ paired: one }),
  });
  return {
    net: compile(net('keys', { in: { job, signal }, transitions: [work, cancel, pair] })),
    mayThrow: firingKey === 'a field that some inputs lack',
    name: `${firingKey} and ${tokenKey}`,
  };
}

/** Runs a net with random inputs, results, crashes and times. Returns the markings that the search does not know. */
function runAtRandom(
  { net: compiled, mayThrow }: Case,
  system: TransitionSystem,
  explored: ReadonlySet<string>,
  random: Random,
): { readonly markings: number; readonly outside: readonly string[] } {
  const toFiringId = (firing: number): string => `f${firing}`;
  const open = (marking: Marking): Executor => new Executor(compiled, marking, { toFiringId });
  const shadow = emptyMarking();
  const outside: string[] = [];
  let markings = 0;
  let executor = open(emptyMarking());
  const left = new Map([
    ['job', 2],
    ['signal', 2],
  ]);
  const note = (): void => {
    for (const record of executor.takeSettled().records) {
      applyRecord(shadow, record);
      markings++;
      if (!explored.has(encode(system, shadow, toFiringId))) outside.push(JSON.stringify(record));
    }
  };
  const value = (): Job => ({
    id: random.pick(['a', 'b', 'f2']),
    group: random.pick(mayThrow ? ['a', 'b'] : ['a', 'c']),
  });
  executor.begin(0);
  for (let now = 0, round = 0; round < 16; round++, now += random.below(30)) {
    if (random.chance(0.15)) {
      note();
      executor = open(executor.marking);
      executor.recover(now);
    }
    for (let inputs = random.below(3); inputs > 0; inputs--) {
      const name = random.pick([...left.keys()]);
      const count = left.get(name) ?? 0;
      left.set(name, Math.max(0, count - 1));
      if (count > 0) executor.inject(name, value(), now);
    }
    const live = [...executor.marking.firings.values()].filter((one) => one.retryAt === undefined);
    for (const { id, attempt } of live) {
      if (random.chance(0.7)) continue;
      const result = random.chance(0.5)
        ? { ok: true as const, value: { done: value() } }
        : { ok: false as const, kind: 'error' as const, error: new Error('failed') };
      executor.finish(id, attempt, result, now, 'work');
    }
    executor.settle(now);
    note();
  }
  return { markings, outside };
}

function encode(
  system: TransitionSystem,
  marking: Marking,
  toFiringId: (id: number) => string,
): string {
  const { net: expanded, tokenClasses } = system;
  const known: Map<string, number>[] = Array.from(
    { length: expanded.keys.domains },
    () => new Map(),
  );
  const toNames = (place: string, source: unknown): number[] =>
    expanded.keys.getKeyFunctions(place).map((getKey, slot) => {
      const inDomain =
        known[expanded.keys.getDomains(place)[slot] ?? 0] ?? new Map<string, number>();
      try {
        const key = getKey(source);
        const name = inDomain.get(key) ?? inDomain.size;
        inDomain.set(key, name);
        return name;
      } catch {
        return -1;
      }
    });
  const toCode = (place: string, source: unknown): number =>
    tokenClasses.codeFor({
      place: expanded.placeIndex.get(place) ?? -1,
      attemptState: 0,
      inputCounts: [],
      color: 0,
      names: toNames(place, source),
    });
  const tokens = [...marking.tokens].flatMap(([place, held]) =>
    held.map((token) => toCode(place, token.value)),
  );
  const firings = [...marking.firings.values()].map(({ id, t, attempt, startedAt, inputs }) => {
    const job = inputs.get('job')?.[0]?.value;
    return toCode(
      `running(${t})`,
      withoutAttempt({ firingId: toFiringId(id), attempt, startedAt, inputs: { job } }),
    );
  });
  return encodeMarking(system, [...tokens, ...firings]);
}

test('runs of nets whose key functions read every field of firings and tokens stay inside the explored markings', () => {
  const random = new Random(1);
  let markings = 0;
  const read = new Set<string>();
  for (let at = 0; at < NETS; at++) {
    const one = createCase(random);
    read.add(one.name.split(' and ')[0] ?? '');
    const bounds = {
      environment: { job: 2, signal: 2 },
      attempts: 4,
      // The errors of a key function are faults of the net.
      faults: one.mayThrow ? 4 : 0,
    };
    const system = new TransitionSystem(expand(one.net, bounds), 'unordered');
    const explored = reachableMarkings(system, { states: 100_000 });
    assert.ok(explored !== undefined, `${one.name}: too many states`);
    for (let run = 0; run < RUNS; run++) {
      const result = runAtRandom(one, system, explored, random);
      markings += result.markings;
      assert.deepEqual(result.outside, [], one.name);
    }
  }
  assert.equal(read.size, Object.keys(firingKeys).length);
  assert.ok(markings > 5 * NETS * RUNS, `${markings} markings`);
});
