import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAge, formatDuration } from './duration.ts';
import { jsonText, oneLine, printable } from './printable.ts';
import { formatShellCommand } from '../command/shell-command.ts';
import { formatTable } from './table.ts';
import { textWidth } from './text-width.ts';

test('printable text has lines and tabs, and no terminal control characters', () => {
  assert.equal(printable('a\tb\nc\u001b[31md\u0007\r\u009b2Je'), 'a\tb\nc[31md2Je');
});

test('text in one line is truncated at its width', () => {
  assert.equal(oneLine(' a\n  b\tc ', 10), 'a b c');
  assert.equal(oneLine('abcdefgh', 5), 'abcd…');
  assert.equal(oneLine('abc def', 5), 'abc…');
  assert.equal(oneLine('abcde', 5), 'abcde');
});

test('JSON makes hidden and bidirectional characters visible', () => {
  assert.equal(
    jsonText({ path: 'a\u202ecod.exe\u0007\u009b' }),
    '{"path":"a\\u202ecod.exe\\u0007\\u009b"}',
  );
});

test('durations and ages are printed in common units', () => {
  assert.deepEqual([0, 999, 1400, 12_400, 125_000, 11_400_000].map(formatDuration), [
    '0 ms',
    '999 ms',
    '1.4 s',
    '12 s',
    '2 min 5 s',
    '3 h 10 min',
  ]);
  assert.deepEqual([0, 61_000, 7_200_000, 300_000_000].map(formatAge), [
    'just now',
    '1 min ago',
    '2 h ago',
    '3 days ago',
  ]);
});

test('a table is as wide as its cells', () => {
  assert.deepEqual(
    formatTable([
      ['a', 'bb', 'c'],
      ['aaa', 'b', ''],
    ]),
    ['a    bb  c', 'aaa  b'],
  );
});

test('a printed command line can be pasted into a shell', () => {
  assert.equal(
    formatShellCommand(['petrichor', 'run', './my agent.ts', '--user', "O'Neil"]),
    `petrichor run './my agent.ts' --user 'O'\\''Neil'`,
  );
});

test('CJK characters and emoji are two columns wide', () => {
  assert.deepEqual(
    ['abc', '世界', '👩‍🚀', 'e\u0301', '\u001b[31mred\u001b[39m'].map(textWidth),
    [3, 4, 2, 1, 3],
  );
  assert.equal(oneLine('世界你好', 8), '世界你好');
  assert.equal(oneLine('世界你好', 7), '世界你…');
  assert.equal(oneLine('世界你好', 6), '世界…');
  assert.equal(oneLine('👩‍🚀👩‍🚀👩‍🚀', 5), '👩‍🚀👩‍🚀…');
  assert.deepEqual(
    formatTable([
      ['世界', 'x'],
      ['abcde', 'y'],
    ]),
    ['世界   x', 'abcde  y'],
  );
});
