/** What a test run counted, and the summary of it that a person reads. */

const FILES_SHOWN = 10;

export interface TestTotals {
  passed: number;
  failed: number;
  readonly skipped: string[];
  /** Milliseconds by test file. */
  readonly durations: Record<string, number>;
  /** CPU seconds by test file, with those of the processes that it started. Empty if they are not known. */
  readonly cpuSeconds: Record<string, number>;
}

export function emptyTotals(): TestTotals {
  return { passed: 0, failed: 0, skipped: [], durations: {}, cpuSeconds: {} };
}

export function addTotals(all: readonly TestTotals[]): TestTotals {
  return {
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    skipped: all.flatMap(({ skipped }) => skipped),
    durations: addByName(all.map(({ durations }) => durations)),
    cpuSeconds: addByName(all.map(({ cpuSeconds }) => cpuSeconds)),
  };
}

/** Adds numbers by name. A file that declares tests for several test files has a part in several processes. */
function addByName(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of all.flatMap(Object.entries<number>))
    sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

export function summarizeTotals(totals: TestTotals): string {
  const { passed, failed, skipped, durations, cpuSeconds } = totals;
  const hasCpu = Object.keys(cpuSeconds).length > 0;
  const costs = listCosts(totals).slice(0, FILES_SHOWN);
  return [
    '',
    ...skipped.map((name) => `– skipped: ${name}`),
    `${failed === 0 ? '✔' : '✖'} ${passed} passed, ${failed} failed, ${skipped.length} skipped, in ${Object.keys(durations).length} files`,
    hasCpu ? 'Most CPU time:' : 'Slowest files:',
    ...costs.map(showCost),
    '',
  ].join('\n');
}

/** What each file costs in seconds, the largest first: CPU time, or wall time if CPU time is not known. */
function listCosts({ cpuSeconds, durations }: TestTotals): readonly Cost[] {
  const hasCpu = Object.keys(cpuSeconds).length > 0;
  const costs = hasCpu
    ? Object.entries(cpuSeconds)
    : Object.entries(durations).map(([file, ms]): Cost => [file, ms / 1000]);
  return costs.toSorted(([, a], [, b]) => b - a);
}

/** The cost of every file, one in a line. */
export function showCosts(totals: TestTotals): string {
  return `${listCosts(totals).map(showCost).join('\n')}\n`;
}

type Cost = readonly [file: string, seconds: number];

function showCost([file, seconds]: Cost): string {
  return `  ${seconds.toFixed(1).padStart(6)} s  ${file}`;
}
