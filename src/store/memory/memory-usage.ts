import type { SessionKey } from '../../core/index.ts';
import { checkUsageQuery, TOKEN_COUNTS, toUsageTotal } from '../rules/usage-rules.ts';
import type { StepUsage, UsageDimension, UsageQuery, UsageTotal } from '../store.ts';

interface Row {
  readonly app: string;
  readonly day: string;
  readonly user: string;
  readonly agent: string;
  readonly model: string;
  readonly calls: number;
  readonly counts: readonly (number | null)[];
}

/** The usage by app, day, user, agent and model. */
export class MemoryUsage {
  readonly #rows = new Map<string, Row>();

  add(
    { appName: app, userId: user }: SessionKey,
    agent: string,
    usage: readonly StepUsage[],
  ): void {
    for (const { day, model, calls, tokens } of usage) {
      const name = JSON.stringify([app, day, user, agent, model]);
      const counts = TOKEN_COUNTS.map((one) => tokens[one] ?? null);
      const row = { app, day, user, agent, model, calls, counts };
      const known = this.#rows.get(name);
      this.#rows.set(name, known === undefined ? row : merge(known, row));
    }
  }

  isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  apps(): readonly string[] {
    return [...new Set([...this.#rows.values()].map(({ app }) => app))];
  }

  read(query: UsageQuery): readonly UsageTotal[] {
    checkUsageQuery(query);
    const { appName, by, from, to, userId, agent } = query;
    const groups = new Map<string, Row>();
    for (const row of this.#rows.values()) {
      if (row.app !== appName) continue;
      if (from !== undefined && row.day < from) continue;
      if (to !== undefined && row.day > to) continue;
      if (userId !== undefined && row.user !== userId) continue;
      if (agent !== undefined && row.agent !== agent) continue;
      const name = JSON.stringify(by.map((one) => row[one]));
      const known = groups.get(name);
      groups.set(name, known === undefined ? row : merge(known, row));
    }
    return [...groups.values()]
      .toSorted((one, other) => compareBy(one, other, by))
      .map((row) => toUsageTotal(row, by));
  }
}

function merge(one: Row, other: Row): Row {
  const counts = one.counts.map((count, index) => {
    const added = other.counts[index] ?? null;
    return count === null ? added : count + (added ?? 0);
  });
  return { ...one, calls: one.calls + other.calls, counts };
}

function compareBy(one: Row, other: Row, by: readonly UsageDimension[]): number {
  for (const name of by) {
    const order = Buffer.compare(Buffer.from(one[name]), Buffer.from(other[name]));
    if (order !== 0) return order;
  }
  return 0;
}
