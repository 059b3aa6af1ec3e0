import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCallArgs } from './call-args.ts';

test('an object is parsed, and empty arguments are an empty object', () => {
  assert.deepEqual(parseCallArgs('{"a":[1,null]}'), { args: { a: [1, null] } });
  for (const nothing of ['', '  ', '\n', '{}'])
    assert.deepEqual(parseCallArgs(nothing), { args: {} });
});

test('other arguments are an error that keeps the raw text', () => {
  for (const raw of ['{"a":', '[1]', '"x"', 'null', '{} {}', '{"a":NaN}']) {
    const { args, argsError } = parseCallArgs(raw);
    assert.deepEqual([args, argsError?.raw], [{}, raw]);
    assert.match(argsError?.message ?? '', /^The arguments are not (JSON|an object)\.$/);
  }
});

test('JSON that cannot be stored is an error', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  for (const [raw, message] of [
    ['{"a":[1e999]}', /a number that is too large/],
    [deep, /deeper than 100 levels/],
  ] as const) {
    const { args, argsError } = parseCallArgs(raw);
    assert.deepEqual([args, argsError?.raw], [{}, raw]);
    assert.match(argsError?.message ?? '', message);
  }
});
