import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATUS_TABLE } from '../../src/core/index.ts';
import { readPage } from './docs-tables.ts';

const page = readPage('docs/sessions.md');

test('the program about status in docs/sessions.md is in the example, which the tests run', () => {
  const [, program = ''] = /^## Pause, complete, archive\n.*?^```ts\n(.*?)^```$/ms.exec(page) ?? [];
  assert.match(program, /session\.archive\(\)/);
  assert.ok(readPage('examples/pause-and-archive.ts').includes(program));
});

test('docs/sessions.md lists the statuses that may follow each status', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` +\|.*\| ([^|]+?) +\|$/gm)].map(
    ([, status = '', next = '']) => [status, next === 'nothing' ? [] : next.split(', ')],
  );
  const listed = rows.filter(([status]) => Object.hasOwn(STATUS_TABLE, String(status)));
  assert.deepEqual(Object.fromEntries(listed), STATUS_TABLE);
});
