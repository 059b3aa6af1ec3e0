import { addUsage, type SessionKey } from '../../core/index.ts';
import type { StepUsage } from '../store.ts';

/** The columns of token counts, in the order of `TOKEN_COUNTS`. */
export const COUNT_COLUMNS = [
  'input',
  'output',
  'total',
  'thinking',
  'cache_read',
  'cache_write',
] as const;

/** The number of rows that a group can have. Connections with different rows do not wait for each other. */
export const USAGE_PARTS = 16;

/** Usage of a session. */
export interface SessionUsage {
  readonly key: SessionKey;
  readonly agent: string;
  readonly usage: StepUsage;
}

/** Adds up the usage of each group. The groups have one order, so that transactions cannot deadlock. */
export function groupUsage(added: readonly SessionUsage[]): readonly SessionUsage[] {
  const groups = new Map<string, SessionUsage>();
  for (const one of added) {
    const { key, agent, usage } = one;
    const name = [key.appName, usage.day, key.userId, agent, usage.model].join('\0');
    const known = groups.get(name)?.usage;
    const merged =
      known === undefined
        ? usage
        : {
            ...usage,
            calls: known.calls + usage.calls,
            tokens: addUsage(known.tokens, usage.tokens),
          };
    groups.set(name, { key, agent, usage: merged });
  }
  return [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}
