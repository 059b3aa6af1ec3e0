/** A binary heap: `pop` returns the least item in the order of `less`. */
export class Heap<T> {
  #items: T[] = [];
  readonly #less: (a: T, b: T) => boolean;

  constructor(less: (a: T, b: T) => boolean) {
    this.#less = less;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent];
      if (above === undefined || !this.#less(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    let at = 0;
    for (;;) {
      const child = this.#lesserChild(at);
      const below = child === undefined ? undefined : items[child];
      if (child === undefined || below === undefined || !this.#less(below, last)) break;
      items[at] = below;
      at = child;
    }
    items[at] = last;
    return top;
  }

  clear(): void {
    this.#items = [];
  }

  /** Removes every item for which `predicate` is false. */
  keep(predicate: (item: T) => boolean): void {
    const kept = this.#items.filter(predicate);
    this.#items = [];
    for (const item of kept) this.push(item);
  }

  #lesserChild(at: number): number | undefined {
    const left = this.#items[2 * at + 1];
    const right = this.#items[2 * at + 2];
    if (left === undefined) return undefined;
    return right !== undefined && this.#less(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}
