/**
 * The test reporter of `npm test`: a dot for each finished file, each failure with its file and what
 * that file printed, then a summary with the slowest files. Titles of tests that pass are not
 * printed; `npx node --test <file>` shows them.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

const SLOWEST_SHOWN = 10;
const OUTPUT_LINES_SHOWN = 40;
const DOTS_IN_LINE = 80;

interface Totals {
  passed: number;
  failed: number;
  readonly skipped: string[];
  readonly durations: Map<string, number>;
}

// oxlint-disable-next-line import/no-default-export -- the test runner imports a reporter's default export
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: Totals = { passed: 0, failed: 0, skipped: [], durations: new Map() };
  // Titles of the suites around the test that runs now, by file: files run side by side.
  const suites = new Map<string, string[]>();
  const output = new Map<string, string[]>();
  let dots = 0;
  for await (const event of events) {
    switch (event.type) {
      case 'test:start': {
        const { file = '', nesting, name } = event.data;
        const titles = suites.get(file) ?? [];
        titles.length = Math.min(titles.length, nesting);
        titles.push(name);
        suites.set(file, titles);
        break;
      }
      case 'test:pass': {
        const { details, name, file = '', nesting, skip } = event.data;
        // Files that share a process have no summary of their own.
        if (nesting === 0 && file.endsWith('.test.ts'))
          addDuration(totals, file, details.duration_ms);
        if (details.type === 'suite') break;
        totals.passed += skip === undefined ? 1 : 0;
        if (skip !== undefined) totals.skipped.push(title(suites.get(file), nesting, name));
        break;
      }
      case 'test:fail': {
        const { details, name, file = '', line, nesting } = event.data;
        // A suite fails because of a test in it, which is shown already.
        if ('failureType' in details.error && details.error.failureType === 'subtestsFailed') break;
        totals.failed += 1;
        const place = file === '' ? '' : `${relative('.', file)}:${line ?? 1}\n`;
        const error = inspect(details.error.cause ?? details.error, { depth: 6 });
        yield `\n✖ ${title(suites.get(file), nesting, name)}\n  ${place}${indent(error)}\n`;
        const written = output.get(file)?.slice(-OUTPUT_LINES_SHOWN) ?? [];
        if (written.length > 0) yield `  It printed:\n    ${written.join('\n    ')}\n`;
        output.delete(file);
        break;
      }
      case 'test:summary': {
        if (event.data.file === undefined) break;
        dots += 1;
        yield dots % DOTS_IN_LINE === 0 ? '.\n' : '.';
        output.delete(event.data.file);
        totals.durations.set(relative('.', event.data.file), event.data.duration_ms);
        break;
      }
      case 'test:stderr':
      case 'test:stdout': {
        const { file, message } = event.data;
        const lines = output.get(file) ?? [];
        lines.push(...message.trimEnd().split('\n'));
        output.set(file, lines);
        break;
      }
      default:
        break;
    }
  }
  yield summary(totals);
}

function addDuration({ durations }: Totals, file: string, ms: number): void {
  const path = relative('.', file);
  durations.set(path, (durations.get(path) ?? 0) + ms);
}

function title(titles: readonly string[] | undefined, nesting: number, name: string): string {
  return [...(titles ?? []).slice(0, nesting), name].join(' › ');
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function summary({ passed, failed, skipped, durations }: Totals): string {
  const slowest = [...durations].toSorted(([, a], [, b]) => b - a).slice(0, SLOWEST_SHOWN);
  return [
    '',
    ...skipped.map((name) => `– skipped: ${name}`),
    `${failed === 0 ? '✔' : '✖'} ${passed} passed, ${failed} failed, ${skipped.length} skipped, in ${durations.size} files`,
    'Slowest files:',
    ...slowest.map(([file, ms]) => `  ${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`),
    '',
  ].join('\n');
}
