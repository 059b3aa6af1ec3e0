import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { labelLines } from './worker-output.ts';

async function label(json: boolean, ...writes: readonly string[]): Promise<string> {
  const output = new PassThrough();
  const labelled = labelLines(output, 2, json);
  for (const write of writes) labelled.write(write);
  labelled.end(() => output.end());
  return text(output);
}

test('each line names the worker', async () => {
  assert.equal(
    await label(false, 'one\n', 'two\nthree\n'),
    'worker 2: one\nworker 2: two\nworker 2: three\n',
  );
});

test('a line of JSON has the worker as a field', async () => {
  assert.equal(
    await label(true, '{"type":"audit"}\n', 'no JSON\n'),
    '{"worker":2,"type":"audit"}\nworker 2: no JSON\n',
  );
});
