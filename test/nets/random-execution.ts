import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { compile } from '../../src/net/index.ts';
import type {
  Attempt,
  CompiledNet,
  JournalRecord,
  Marking,
  planUpgrade,
} from '../../src/net/index.ts';
import { assertSameMarking, ExecutorHarness } from './executor-harness.ts';
import { netPlan, toNet } from './random-net.ts';
import type { NetPlan } from './random-net.ts';

/** An event from outside. Its numbers choose among the available places and attempts. */
export type RandomAction =
  | { readonly do: 'inject'; readonly place: number; readonly value: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'finish'; readonly which: number; readonly how: 'ok' | 'error' | 'nonsense' }
  | { readonly do: 'crash' };

const move: fc.Arbitrary<RandomAction> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('inject' as const),
      place: fc.nat(7),
      value: fc.nat(8),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 10, 50, 100, 1_000, 4_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      which: fc.nat(5),
      how: fc.constantFrom('ok', 'ok', 'ok', 'error', 'nonsense'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
);

export interface RandomScenario {
  readonly plan: NetPlan;
  /** Moves between settlings. */
  readonly moves: readonly (readonly RandomAction[])[];
}

export const randomScenario: fc.Arbitrary<RandomScenario> = fc.record({
  plan: netPlan,
  moves: fc.array(fc.array(move, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }),
});

/** A session that another execution left. */
export interface LeftSession {
  readonly marking: Marking;
  readonly records: readonly JournalRecord[];
  readonly attempts: readonly Attempt[];
  readonly now: number;
  /** The first record of the execution that continues. */
  readonly upgrade?: ReturnType<typeof planUpgrade>;
}

/** One session of a random net, with the state outside the net. */
export class RandomExecution {
  play: ExecutorHarness;
  readonly records: JournalRecord[];
  /** The attempts that still run, including those of dead owners, whose results also arrive. */
  readonly attempts: Attempt[];
  readonly #net: CompiledNet;

  constructor(net: CompiledNet, left?: LeftSession) {
    this.#net = net;
    this.play = new ExecutorHarness(net, left?.marking);
    this.play.now = left?.now ?? 0;
    this.records = [...(left?.records ?? [])];
    this.attempts = [...(left?.attempts ?? [])];
    for (const attempt of this.attempts) this.play.running.set(attempt.firing, attempt);
    if (left?.upgrade !== undefined)
      this.play.executor.appendSystemRecord(left.upgrade, this.play.now);
    this.settle();
  }

  /** Makes the moves, and settles after each group. */
  async run(moves: RandomScenario['moves']): Promise<void> {
    for (const each of moves) {
      for (const one of each) await this.make(one);
      this.settle();
    }
  }

  settle(): void {
    const before = new Set(this.play.running.values());
    this.records.push(...this.play.settle());
    for (const attempt of this.play.running.values())
      if (!before.has(attempt)) this.attempts.push(attempt);
  }

  async make(move: RandomAction): Promise<void> {
    if (move.do === 'inject') {
      const environment = [...this.#net.places.values()].filter((place) => place.environment);
      const target = environment[move.place % environment.length];
      if (target !== undefined) this.play.inject(target, move.value);
    } else if (move.do === 'wait') {
      this.play.now += move.ms;
    } else if (move.do === 'finish') {
      await this.#finish(move.which, move.how);
    } else {
      this.takeOver();
      this.play.executor.recover(this.play.now);
    }
  }

  /** Returns the same session under a new executor, restored from the snapshot. Its attempts keep running. */
  takeOver(): void {
    const next = new ExecutorHarness(this.#net, this.#restored());
    next.now = this.play.now;
    for (const [firing, attempt] of this.play.running) next.running.set(firing, attempt);
    this.play = next;
  }

  #restored(): ExecutorHarness['marking'] {
    // Settle first: anything that is not settled is not committed, and is lost with its owner.
    this.settle();
    const all = new ExecutorHarness(this.#net, this.play.marking);
    all.records.push(...this.records);
    return all.restored().marking;
  }

  async #finish(which: number, how: 'ok' | 'error' | 'nonsense'): Promise<void> {
    // Attempts that begin again at the same time begin in any order, so they are chosen by their firing.
    const inOrder = this.attempts.toSorted((a, b) => a.firing - b.firing);
    const attempt = inOrder[which % Math.max(1, inOrder.length)];
    if (attempt === undefined) return;
    this.attempts.splice(this.attempts.indexOf(attempt), 1);
    this.play.running.delete(attempt.firing);
    const { firing, attempt: number, t, tokens } = attempt;
    const value: unknown = how === 'ok' ? await t.spec.run(tokens, {}) : 'nonsense';
    const failed = { ok: false, kind: 'error', error: new Error('failed') } as const;
    const result = how === 'error' ? failed : ({ ok: true, value } as const);
    this.play.executor.finish(firing, number, result, this.play.now, t.name);
  }
}

/**
 * Asserts at every settled step that the live, replayed and restored executors are equal: the same marking, nothing to
 * fire, and the same next due time. An executor that is restored at every step must write the same journal.
 */
export async function assertJournalIsComplete({ plan, moves }: RandomScenario): Promise<void> {
  const net = compile(toNet(plan));
  const live = new RandomExecution(net);
  const restored = new RandomExecution(net);
  for (const each of moves) {
    for (const one of each) await live.make(one);
    live.settle();
    assertSameMarking(live.play.marking, live.records);
    restored.takeOver();
    for (const one of each) await restored.make(one);
    restored.settle();
    assert.deepEqual(restored.records, live.records);
    const { nextDueAt } = live.play.executor;
    restored.takeOver();
    assert.deepEqual(restored.play.settle(), [], 'a net at rest is at rest for its successor');
    assert.equal(restored.play.executor.nextDueAt, nextDueAt);
  }
  assertFiringsAreSingle(live.records);
}

/** The journal of one run of a random net. */
export async function listRandomRecords({
  plan,
  moves,
}: RandomScenario): Promise<readonly JournalRecord[]> {
  const live = new RandomExecution(compile(toNet(plan)));
  await live.run(moves);
  return live.records;
}

/** Asserts that every firing starts once, ends at most once and has no later record, and that every token is consumed once. */
function assertFiringsAreSingle(records: readonly JournalRecord[]): void {
  const inFlight = new Set<number>();
  const consumed = new Set<string>();
  let at = 0;
  for (const record of records) {
    assert.ok(record.at >= at, 'time went back');
    at = record.at;
    if (record.kind === 'started') inFlight.add(record.seq);
    if (record.kind === 'ended') assert.ok(inFlight.delete(record.firing), 'ended twice');
    if (record.kind === 'retrying' || record.kind === 'restarted')
      assert.ok(inFlight.has(record.firing));
    if (record.kind === 'faulted' && record.firing !== undefined) inFlight.delete(record.firing);
    if ('aborted' in record)
      for (const firing of record.aborted ?? []) assert.ok(inFlight.delete(firing));
    const moves = [
      ...('take' in record ? (record.take ?? []) : []),
      ...('reset' in record ? (record.reset ?? []) : []),
    ];
    for (const id of moves.flatMap(([, ...ids]) => ids)) {
      assert.ok(!consumed.has(id), 'consumed twice');
      consumed.add(id);
    }
  }
}
