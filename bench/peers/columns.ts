import { median } from '../statistics.ts';
import * as inMemory from './columns/in-memory.ts';
import * as installed from './columns/package.ts';
import * as stored from './columns/stored.ts';
import * as twoProcesses from './columns/two-processes.ts';
import type { Peer } from './peer.ts';

export type Measured = Readonly<Record<string, number | string | readonly string[]>>;

export interface Column {
  /** Measured in every round, in a process of its own for each peer. Otherwise once. */
  readonly everyRound: boolean;
  /** Mostly waits, and its figures are counts: the peers are measured at the same time. Default: false. */
  readonly atOnce?: boolean;
  readonly measure: (peer: Peer, options: { readonly quick: boolean }) => Promise<object | null>;
}

const table = {
  fresh: { everyRound: true, measure: inMemory.measureRate },
  growth: { everyRound: true, measure: inMemory.measureGrowth },
  deltas: { everyRound: true, measure: inMemory.measureDeltas },
  tools: { everyRound: true, measure: inMemory.measureTools },
  heap: { everyRound: true, measure: inMemory.measureHeap },
  import: { everyRound: true, measure: installed.measureImport },
  durable: { everyRound: true, measure: stored.measureDurableRate },
  bytes: { everyRound: false, measure: stored.measureBytes },
  abort: { everyRound: false, measure: inMemory.measureAbort },
  kill: { everyRound: false, atOnce: true, measure: twoProcesses.measureKill },
  approvals: { everyRound: false, atOnce: true, measure: twoProcesses.measureApprovals },
  packages: { everyRound: false, measure: installed.measureInstalled },
  lines: { everyRound: false, measure: installed.countLines },
} as const satisfies Readonly<Record<string, Column>>;

export type ColumnName = keyof typeof table;

export const columns: Readonly<Record<ColumnName, Column>> = table;

export const columnNames: readonly ColumnName[] = Object.keys(columns) as ColumnName[];

/** The median of each number over the rounds; anything else as in the last round. */
export function mergeRounds(rounds: readonly (Measured | null)[]): Measured | null {
  const measured = rounds.filter((round) => round !== null);
  const last = measured.at(-1);
  if (last === undefined) return null;
  return Object.fromEntries(
    Object.entries(last).map(([name, value]) => {
      const numbers = measured.map((round) => round[name]).filter((one) => typeof one === 'number');
      return [name, typeof value === 'number' ? median(numbers) : value];
    }),
  );
}
