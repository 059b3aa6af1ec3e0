import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from './docs-tables.ts';

/** The text without indentation: the formatter moves an excerpt to the left. */
const trimLines = (text: string): string => text.replaceAll(/^ +/gm, '');

test('the programs of docs/inspection.md are in the example, which the tests run', () => {
  const example = trimLines(readPage('examples/inspect-session.ts'));
  const programs = [...readPage('docs/inspection.md').matchAll(/^```ts\n(.*?)^```$/gms)]
    .map(([, program = '']) => trimLines(program))
    // The part that runs in a browser is tested with the entry it imports.
    .filter((program) => !program.includes('petrichor/journal'));
  assert.ok(programs.length >= 5);
  assert.deepEqual(
    programs.filter((program) => !example.includes(program)),
    [],
  );
});
