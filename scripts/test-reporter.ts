/**
 * The test reporter: a dot for each finished file, each failure with its file and what that file
 * printed, then a summary with the slowest files. Titles of tests that pass are not printed;
 * `npx node --test <file>` shows them.
 *
 * `test-process.ts` sends the same as messages, because many processes make one report.
 */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { emptyTotals, summarizeTotals, type TestTotals } from './test-totals.ts';

/** What a report consists of. A test process sends it to the process that started it. */
export type ReportMessage =
  | { readonly failure: string }
  | { readonly dot: true }
  | { readonly totals: TestTotals };

const OUTPUT_LINES_SHOWN = 40;
const DOTS_IN_LINE = 80;

// oxlint-disable-next-line import/no-default-export -- the test runner imports a reporter's default export
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let dots = 0;
  for await (const message of toMessages(events)) {
    if ('failure' in message) yield message.failure;
    else if ('totals' in message) yield summarizeTotals(message.totals);
    else yield showDot((dots += 1));
  }
}

/** A dot, with a line break after each full line. */
export function showDot(count: number): string {
  return count % DOTS_IN_LINE === 0 ? '.\n' : '.';
}

/** Reads the events of test files, and yields what a person learns of them. The totals come last. */
export async function* toMessages(events: AsyncIterable<TestEvent>): AsyncGenerator<ReportMessage> {
  const totals = emptyTotals();
  // Titles of the suites around the test that runs now, by file: files run side by side.
  const suites = new Map<string, string[]>();
  const output = new Map<string, string[]>();
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
        if (nesting === 0 && file.endsWith('.test.ts')) {
          if (addDuration(totals, file, details.duration_ms)) yield { dot: true };
        }
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
        const written = output.get(file)?.slice(-OUTPUT_LINES_SHOWN) ?? [];
        const printed = written.length > 0 ? `  It printed:\n    ${written.join('\n    ')}\n` : '';
        yield {
          failure: `\n✖ ${title(suites.get(file), nesting, name)}\n  ${place}${indent(error)}\n${printed}`,
        };
        output.delete(file);
        break;
      }
      case 'test:diagnostic': {
        const { nesting, message } = event.data;
        // An error that nothing caught. In a process of many files the runner does not know its test.
        if (nesting !== 0 || !message.startsWith('Error: ')) break;
        totals.failed += 1;
        yield {
          failure: `\n✖ ${message}\n  Run the files one by one with \`npx node --test <file>\` to see which test it is.\n`,
        };
        break;
      }
      case 'test:summary': {
        if (event.data.file === undefined) break;
        output.delete(event.data.file);
        const path = relative('.', event.data.file);
        if (totals.durations[path] === undefined) yield { dot: true };
        totals.durations[path] = event.data.duration_ms;
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
  yield { totals };
}

/** Adds the duration of a test to its file. Returns whether the file is new. */
function addDuration({ durations }: TestTotals, file: string, ms: number): boolean {
  const path = relative('.', file);
  const isNew = durations[path] === undefined;
  durations[path] = (durations[path] ?? 0) + ms;
  return isNew;
}

function title(titles: readonly string[] | undefined, nesting: number, name: string): string {
  return [...(titles ?? []).slice(0, nesting), name].join(' › ');
}

function indent(text: string): string {
  return text.replaceAll('\n', '\n  ');
}
