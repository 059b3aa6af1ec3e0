type Labels = Readonly<Record<string, string>>;

/** A metric in the text format of Prometheus. Every line ends with a line break. */
export interface Metric {
  readonly text: () => string;
}

/** A counter with one number per set of labels. With `gauge`, it can decrease. */
export class Counter implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #kind: 'counter' | 'gauge';
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string, kind: 'counter' | 'gauge' = 'counter') {
    this.#name = name;
    this.#help = help;
    this.#kind = kind;
  }

  add(labels: Labels = {}, by = 1): void {
    const key = labelText(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  /** Replaces all values. */
  replace(values: readonly (readonly [Labels, number])[]): void {
    this.#values.clear();
    for (const [labels, value] of values) this.#values.set(labelText(labels), value);
  }

  text(): string {
    // A counter without events is 0, not absent.
    const values = this.#values.size === 0 ? [['', 0] as const] : [...this.#values];
    const lines = values.map(([labels, value]) => `${this.#name}${labels} ${value}\n`);
    return head(this.#name, this.#help, this.#kind) + lines.join('');
  }
}

/** A histogram of durations in seconds, with cumulative upper bounds. */
export class Histogram implements Metric {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  /** @param bounds upper bounds in ascending order */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#count++;
    this.#sum += value;
    for (const [index, bound] of this.#bounds.entries())
      if (value <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  text(): string {
    const name = this.#name;
    const buckets = this.#bounds.map(
      (bound, index) => `${name}_bucket{le="${bound}"} ${this.#counts[index] ?? 0}\n`,
    );
    return [
      head(name, this.#help, 'histogram'),
      ...buckets,
      `${name}_bucket{le="+Inf"} ${this.#count}\n`,
      `${name}_sum ${this.#sum}\n`,
      `${name}_count ${this.#count}\n`,
    ].join('');
  }
}

function head(name: string, help: string, kind: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) =>
      `${name}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
