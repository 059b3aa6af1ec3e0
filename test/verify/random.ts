/** A pseudorandom number generator with a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) ^ 0x85ebca6b;
    this.next();
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.below(from.length)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }

  /** Returns some of the items, in random order. */
  some<T>(from: readonly T[], count: number): T[] {
    const remaining = [...from];
    const picked: T[] = [];
    while (picked.length < count && remaining.length > 0)
      picked.push(...remaining.splice(this.below(remaining.length), 1));
    return picked;
  }
}
