import assert from 'node:assert/strict';
import type { Clock } from '../../src/net/index.ts';
import type { Journal } from './journal.ts';

/** What the effects of a net call. */
export interface EffectRunner {
  /** Runs an effect of `ms` milliseconds for an attempt. An effect that hangs never ends. */
  readonly runEffect: (attempted: Attempted, ms: number) => Promise<void>;
  /** The time of the current owner, in milliseconds. */
  readonly now: () => number;
}

/** The world in which side effects happen. It outlives every owner and counts the effects. */
export class SideEffectWorld implements EffectRunner {
  /** By firing and attempt. */
  readonly starts: Map<string, number> = new Map();
  readonly completions: Map<string, number> = new Map();
  readonly #journal: Journal;
  #clock: Clock | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Starts a new owner with this clock. */
  startOwner(clock: Clock): void {
    this.#clock = clock;
  }

  /** Ends the owner: its unfinished effects never complete. */
  stopOwner(): void {
    this.#clock = undefined;
  }

  now(): number {
    return this.#clock?.now() ?? 0;
  }

  async runEffect({ firingId, attempt }: Attempted, ms: number): Promise<void> {
    const clock = this.#clock;
    const key = `${firingId} attempt ${attempt}`;
    assert.ok(
      !this.#journal.hasEnded(Number(firingId)),
      `firing ${firingId} has ended and was run again`,
    );
    count(this.starts, key);
    await new Promise<void>((resolve) => {
      if (Number.isFinite(ms)) clock?.at(clock.now() + ms, resolve);
    });
    if (clock === this.#clock) count(this.completions, key);
    else await new Promise(() => {});
  }
}

interface Attempted {
  readonly firingId: string;
  readonly attempt: number;
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
