import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Output } from '../../../test/cli/command-folder.ts';
import { SimulatedClock } from '../../net/index.ts';
import { createPaint } from './paint.ts';
import { Screen } from './screen.ts';

function createScreen(columns?: number): {
  readonly screen: Screen;
  readonly output: Output;
  readonly clock: SimulatedClock;
} {
  const output = new Output(columns);
  const clock = new SimulatedClock(1000);
  const screen = new Screen({ output, clock, paint: createPaint(output, { NO_COLOR: '1' }) });
  return { screen, output, clock };
}

test('a status is drawn on a terminal, with its seconds, and erased before the next text', () => {
  const { screen, output, clock } = createScreen(40);
  screen.line('a line');
  screen.status('thinking');
  assert.equal(output.text, 'a line\n');
  clock.advance(200);
  assert.match(output.text, /^a line\n⠹ thinking$/);
  clock.advance(2000);
  assert.match(output.text, /^a line\n\S thinking 2\.0 s$/);
  screen.line('more');
  assert.equal(output.text, 'a line\nmore\n');
  clock.advance(100);
  assert.match(output.text, /^a line\nmore\n\S thinking 2\.0 s$/);
  screen.status();
  assert.equal(output.text, 'a line\nmore\n');
  clock.advance(5000);
  assert.equal(output.text, 'a line\nmore\n');
});

test('a status is never drawn in the middle of a line', () => {
  const { screen, output, clock } = createScreen(40);
  screen.status('thinking');
  screen.write('half a ');
  clock.advance(500);
  screen.write('line');
  assert.equal(output.text, 'half a line');
});

test('a status is truncated to the width of the terminal', () => {
  const { screen, output, clock } = createScreen(20);
  screen.status('running a_tool_with_a_long_name');
  clock.advance(100);
  assert.equal(output.text.length, 19);
});

test('a status is not written to a file', () => {
  const { screen, output, clock } = createScreen();
  screen.status('thinking');
  clock.advance(5000);
  assert.equal(output.raw, '');
  assert.equal(clock.nextAt, undefined);
});

test('prose wraps between words at a terminal, however it is chunked', () => {
  const { screen, output } = createScreen(16);
  for (const piece of ['the quick', ' brown', ' fox jumps over', ' the\nlazy dog'])
    screen.writeWrapped(piece);
  assert.equal(output.text, 'the quick brown\nfox jumps over\nthe\nlazy dog');
});

test('prose in a file is not wrapped', () => {
  const { screen, output } = createScreen();
  const text = 'word '.repeat(100);
  screen.writeWrapped(text);
  assert.equal(output.raw, text);
});

test('a line starts on a new line', () => {
  const { screen, output } = createScreen();
  screen.write('begun');
  screen.line('own');
  screen.endLine();
  assert.equal(output.raw, 'begun\nown\n');
});

test('wide characters wrap by their columns', () => {
  const { screen, output } = createScreen(10);
  screen.writeWrapped('世界 世界 世界');
  assert.equal(output.text, '世界 世界\n世界');
});
