import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../core/index.ts';
import { createOutputSchema } from './output-schema.ts';

const refused: readonly (readonly [JsonObject, RegExp])[] = [
  [{ type: 'object', properties: 5 }, /"properties" must be an object of schemas; it is .*5/],
  [{ type: 'object', properties: { sum: 'number' } }, /"properties\.sum" must be a schema; it is/],
  [
    { type: 'object', properties: { sum: { type: 'int' } } },
    /"properties\.sum\.type" must be one of array, .*; it is/,
  ],
  [{ type: 'object', required: [1] }, /"required" must be a list of names; it is/],
  [
    { type: 'object', properties: { of: { items: 3 } } },
    /"properties\.of\.items" must be a schema/,
  ],
  [{ type: 'object', oneOf: { a: true } }, /"oneOf" must be a list of schemas/],
  [{ type: 'object', properties: { a: { enum: 'x' } } }, /"properties\.a\.enum" must be a list/],
  [
    { type: 'object', properties: { a: { $ref: '#/$defs/none' } } },
    /\$ref "#\/\$defs\/none" leads to nothing inside the schema\. Correct the schema\./,
  ],
];

for (const [schema, message] of refused)
  test(`an output schema with a mistake is refused with its place: ${JSON.stringify(schema)}`, () => {
    assert.throws(() => createOutputSchema(schema), {
      code: 'invalid_input',
      field: 'output',
      message,
    });
  });

test('an output schema with all kinds of keywords is accepted', async () => {
  const schema = {
    type: 'object',
    $defs: { sum: { type: ['number', 'null'] } },
    properties: {
      sum: { $ref: '#/$defs/sum' },
      parts: { type: 'array', items: { anyOf: [{ type: 'string' }, true] } },
      kind: { enum: ['a', 'b'] },
    },
    required: ['sum'],
    additionalProperties: false,
  };
  const { parse } = createOutputSchema(schema);
  assert.deepEqual(await parse('{"sum":1}'), { ok: true, value: { sum: 1 } });
  assert.equal((await parse('{"sum":"1"}')).ok, false);
});
