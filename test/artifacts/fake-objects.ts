/** The objects of a bucket in memory, shared by both fakes. */
export interface FakeObject {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
}

export class FakeObjects {
  readonly #objects = new Map<string, FakeObject>();
  readonly #pageSize: number;

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  get(name: string): FakeObject | undefined {
    return this.#objects.get(name);
  }

  names(): readonly string[] {
    return [...this.#objects.keys()];
  }

  put(name: string, object: FakeObject): void {
    this.#objects.set(name, object);
  }

  delete(name: string): boolean {
    return this.#objects.delete(name);
  }

  /** A page of the names and common prefixes after one of them. */
  list(
    prefix: string,
    delimiter: string,
    after: string,
  ): {
    readonly names: readonly string[];
    readonly prefixes: readonly string[];
    readonly next: string | undefined;
  } {
    const entries = new Set<string>();
    for (const name of this.#objects.keys()) {
      if (!name.startsWith(prefix)) continue;
      const end = delimiter === '' ? -1 : name.indexOf(delimiter, prefix.length);
      entries.add(end === -1 ? name : name.slice(0, end + delimiter.length));
    }
    const sorted = [...entries].toSorted().filter((entry) => entry > after);
    const page = sorted.slice(0, this.#pageSize);
    const isPrefix = (entry: string): boolean => delimiter !== '' && entry.endsWith(delimiter);
    return {
      names: page.filter((entry) => !isPrefix(entry)),
      prefixes: page.filter(isPrefix),
      next: sorted.length > page.length ? page.at(-1) : undefined,
    };
  }
}
