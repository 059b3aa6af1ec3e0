/** Prints test coverage by folder of `src/`: lines, branches and functions, in per cent. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

interface Counts {
  lines: number;
  coveredLines: number;
  branches: number;
  coveredBranches: number;
  functions: number;
  coveredFunctions: number;
}

const none = (): Counts => ({
  lines: 0,
  coveredLines: 0,
  branches: 0,
  coveredBranches: 0,
  functions: 0,
  coveredFunctions: 0,
});

// oxlint-disable-next-line import/no-default-export -- the test runner imports a reporter's default export
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:fail') yield `✖ ${event.data.file ?? ''} ${event.data.name}\n`;
    if (event.type !== 'test:coverage') continue;
    const folders = new Map<string, Counts>();
    for (const file of event.data.summary.files) {
      const [, folder = ''] = relative('.', file.path).split('/');
      for (const name of [folder, 'all']) {
        const counts = folders.get(name) ?? none();
        counts.lines += file.totalLineCount;
        counts.coveredLines += file.coveredLineCount;
        counts.branches += file.totalBranchCount;
        counts.coveredBranches += file.coveredBranchCount;
        counts.functions += file.totalFunctionCount;
        counts.coveredFunctions += file.coveredFunctionCount;
        folders.set(name, counts);
      }
    }
    yield 'folder       lines  branches  functions\n';
    for (const [name, counts] of [...folders].toSorted(([a], [b]) => a.localeCompare(b))) {
      const cells = [
        percent(counts.coveredLines, counts.lines).padStart(6),
        percent(counts.coveredBranches, counts.branches).padStart(9),
        percent(counts.coveredFunctions, counts.functions).padStart(10),
      ];
      yield `${name.padEnd(12)} ${cells.join(' ')}\n`;
    }
  }
}

function percent(covered: number, total: number): string {
  return total === 0 ? '–' : `${((100 * covered) / total).toFixed(1)} %`;
}
