import assert from 'node:assert/strict';
import {
  applyRecord,
  compile,
  emptyMarking,
  Executor,
  fromSnapshot,
  listIn,
  oldestListRecord,
  tokensIn,
  toSnapshot,
} from '../../src/net/index.ts';
import type {
  Attempt,
  CompiledNet,
  JournalRecord,
  Marking,
  Net,
  Snapshot,
} from '../../src/net/index.ts';
import type { SettledOutlet } from '../../src/net/engine/settled.ts';

/** Runs a net with times, inputs and results that the test controls. It keeps everything that happened. */
export class ExecutorHarness {
  readonly net: CompiledNet;
  executor: Executor;
  readonly records: JournalRecord[] = [];
  readonly outlets: SettledOutlet[] = [];
  /** The running attempts, by firing. */
  readonly running: Map<number, Attempt> = new Map();
  readonly aborted: number[] = [];
  now: number = 0;

  constructor(net: Net | CompiledNet, marking: Marking = emptyMarking()) {
    this.net = 'hash' in net ? net : compile(net);
    this.executor = this.#over(marking);
    if (marking.seq === 0) this.executor.begin(0);
  }

  get marking(): Marking {
    return this.executor.marking;
  }

  inject(place: string | { readonly name: string }, value: unknown = null, key?: string): void {
    this.executor.inject(typeof place === 'string' ? place : place.name, value, this.now, key);
  }

  /** Settles at `now`, which becomes the current time, and begins the new attempts. */
  settle(now: number = this.now): readonly JournalRecord[] {
    this.now = now;
    this.executor.settle(now);
    return this.take();
  }

  /** Returns the step since the previous call, as a commit receives it. */
  take(): readonly JournalRecord[] {
    const { records, outlets, attempts } = this.executor.takeSettled();
    this.records.push(...records);
    this.outlets.push(...outlets);
    for (const attempt of attempts) this.running.set(attempt.firing, attempt);
    return records;
  }

  /** Returns the oldest running attempt of `t`. */
  attempt(t: string): Attempt {
    const found = [...this.running.values()].find((attempt) => attempt.t.name === t);
    assert.ok(found, `no attempt of ${t} runs`);
    return found;
  }

  finish(attempt: Attempt, value: unknown): void {
    this.running.delete(attempt.firing);
    const { firing, attempt: number, t } = attempt;
    this.executor.finish(firing, number, { ok: true, value }, this.now, t.name);
  }

  fail(attempt: Attempt, error: unknown = new Error('no')): void {
    this.running.delete(attempt.firing);
    const { firing, attempt: number, t } = attempt;
    this.executor.finish(firing, number, { ok: false, kind: 'error', error }, this.now, t.name);
  }

  values(place: string | { readonly name: string }): readonly unknown[] {
    const name = typeof place === 'string' ? place : place.name;
    return tokensIn(this.marking, name).map((token) => token.value);
  }

  list(place: { readonly name: string }): readonly unknown[] {
    return listIn(this.marking, place.name).items;
  }

  /** Returns the records so far, each as `kind transition`. */
  get summary(): readonly string[] {
    return this.records.map((record) =>
      't' in record ? `${record.kind} ${record.t}` : record.kind,
    );
  }

  /** Returns the same net over the marking of the journal, as a new owner has it. */
  replayed(): ExecutorHarness {
    return new ExecutorHarness(this.net, replay(this.records)).#at(this.now);
  }

  /** Returns the same net over the marking of a snapshot. */
  restored(): ExecutorHarness {
    return new ExecutorHarness(this.net, restore(this.marking, this.records)).#at(this.now);
  }

  #at(now: number): this {
    this.now = now;
    return this;
  }

  #over(marking: Marking): Executor {
    const onAbort = (firing: number): void => {
      this.aborted.push(firing);
      this.running.delete(firing);
    };
    return new Executor(this.net, marking, { toFiringId: (firing) => `f${firing}`, onAbort });
  }
}

/** Returns the marking of the records, after a round trip through JSON text. */
export function replay(records: readonly JournalRecord[]): Marking {
  const marking = emptyMarking();
  for (const record of asText(records)) applyRecord(marking, record);
  return marking;
}

/** Restores the marking from its snapshot and its list records. */
export function restore(marking: Marking, records: readonly JournalRecord[]): Marking {
  const snapshot: Snapshot = asText(toSnapshot(marking));
  const from = oldestListRecord(snapshot) ?? Number.POSITIVE_INFINITY;
  return fromSnapshot(
    snapshot,
    asText(records).filter((record) => record.seq >= from),
  );
}

function asText<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Asserts that the live, replayed and restored markings are equal. */
export function assertSameMarking(live: Marking, records: readonly JournalRecord[]): void {
  assert.deepEqual(visible(replay(records)), visible(live), 'replay differs');
  assert.deepEqual(visible(restore(live, records)), visible(live), 'snapshot differs');
}

/** Returns a comparable marking: items beyond the length of a list view are removed. */
export function visible(marking: Marking): unknown {
  const firings = [...marking.firings.values()].map(({ reads, ...firing }) => ({
    ...firing,
    reads: {
      ...reads,
      lists: [...reads.lists].map(([place, { version, length, items }]) => ({
        place,
        version,
        items: items.slice(0, length),
      })),
    },
  }));
  return { ...marking, firings };
}
