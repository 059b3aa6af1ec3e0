/** What a test run counted, and the summary of it that a person reads. */

const SLOWEST_SHOWN = 10;

export interface TestTotals {
  passed: number;
  failed: number;
  readonly skipped: string[];
  /** Milliseconds by test file. */
  readonly durations: Record<string, number>;
}

export function emptyTotals(): TestTotals {
  return { passed: 0, failed: 0, skipped: [], durations: {} };
}

export function addTotals(all: readonly TestTotals[]): TestTotals {
  return {
    passed: all.reduce((sum, { passed }) => sum + passed, 0),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    skipped: all.flatMap(({ skipped }) => skipped),
    durations: Object.assign({}, ...all.map(({ durations }) => durations)),
  };
}

export function summarizeTotals({ passed, failed, skipped, durations }: TestTotals): string {
  const files = Object.entries(durations);
  const slowest = files.toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
  return [
    '',
    ...skipped.map((name) => `– skipped: ${name}`),
    `${failed === 0 ? '✔' : '✖'} ${passed} passed, ${failed} failed, ${skipped.length} skipped, in ${files.length} files`,
    'Slowest files:',
    ...slowest.map(([file, ms]) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`),
    '',
  ].join('\n');
}
