import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { Output } from '../../../test/cli/command-folder.ts';
import { LineReader, type LineReaderOptions } from './line-reader.ts';

function createReader(mode: LineReaderOptions['mode']): {
  readonly reader: LineReader;
  readonly input: PassThrough;
  readonly output: Output;
  readonly interrupts: () => number;
} {
  const input = new PassThrough();
  const output = new Output(mode === 'terminal' ? 80 : undefined);
  let interrupts = 0;
  const reader = new LineReader({ input, output, mode, onInterrupt: () => interrupts++ });
  return { reader, input, output, interrupts: () => interrupts };
}

test('lines are read in order, and undefined follows the last one', async () => {
  const { reader, input } = createReader('silent');
  input.end('one\ntwo\nthree');
  assert.deepEqual(
    [await reader.read(''), await reader.read(''), await reader.read('')],
    ['one', 'two', 'three'],
  );
  assert.equal(await reader.read(''), undefined);
  assert.equal(await reader.read(''), undefined);
});

test('a transcript has each prompt with its line, once', async () => {
  const { reader, input, output } = createReader('transcript');
  const first = reader.read('> ');
  input.end('one\ntwo\n');
  await first;
  await reader.read('? ');
  await reader.read('> ');
  assert.equal(output.raw, '> one\n? two\n');
});

test('a silent reader prints nothing', async () => {
  const { reader, input, output } = createReader('silent');
  input.end('one\n');
  await reader.read('> ');
  assert.equal(output.raw, '');
});

test('a terminal does not echo input while there is no prompt', async () => {
  const { reader, input, output } = createReader('terminal');
  input.write('early\rhal');
  assert.equal(output.raw, '');
  assert.equal(await reader.read('> '), 'early');
  const line = reader.read('> ');
  await output.shows(/> hal$/);
  input.write('f\r');
  assert.equal(await line, 'half');
  reader.close();
});

test('a line that is excluded from the history is not recalled', async () => {
  const { reader, input } = createReader('terminal');
  const ask = async (text: string, remember: boolean): Promise<string | undefined> => {
    const line = reader.read('> ', { remember });
    input.write(`${text}\r`);
    return line;
  };
  await ask('a message', true);
  await ask('y', false);
  assert.equal(await ask('\u001b[A', true), 'a message');
  reader.close();
});

test('Ctrl-C at a terminal is reported and ends nothing, and close ends the wait', async () => {
  const { reader, input, output, interrupts } = createReader('terminal');
  const line = reader.read('> ');
  await output.shows('> ');
  input.write('\u0003');
  input.write('still here');
  await output.shows('still here');
  assert.equal(interrupts(), 1);
  reader.close();
  assert.equal(await line, undefined);
});
