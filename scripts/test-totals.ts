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
    durations: Object.assign({}, ...all.map(({ durations }) => durations)),
    cpuSeconds: Object.assign({}, ...all.map(({ cpuSeconds }) => cpuSeconds)),
  };
}

export function summarizeTotals(totals: TestTotals): string {
  const { passed, failed, skipped, durations, cpuSeconds } = totals;
  const hasCpu = Object.keys(cpuSeconds).length > 0;
  const costs = hasCpu
    ? Object.entries(cpuSeconds)
    : Object.entries(durations).map(([file, ms]) => [file, ms / 1000] as const);
  const largest = costs.toSorted(([, a], [, b]) => b - a).slice(0, FILES_SHOWN);
  return [
    '',
    ...skipped.map((name) => `– skipped: ${name}`),
    `${failed === 0 ? '✔' : '✖'} ${passed} passed, ${failed} failed, ${skipped.length} skipped, in ${Object.keys(durations).length} files`,
    hasCpu ? 'Most CPU time:' : 'Slowest files:',
    ...largest.map(([file, seconds]) => `  ${seconds.toFixed(1).padStart(6)} s  ${file}`),
    '',
  ].join('\n');
}
