import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { z } from 'zod';
import { InvalidToolError } from './invalid-tool-error.ts';
import { toJsonSchema } from './to-json-schema.ts';
import type { ToolParameters } from './tool-parameters.ts';
import { createJsonSchemaParser } from './json-schema-parser.ts';
import type { JsonSchema } from '../../models/index.ts';

function assertRejected(parameters: ToolParameters, message: RegExp): void {
  assert.throws(
    () => toJsonSchema(parameters, 'f'),
    (error) => {
      assert.ok(error instanceof InvalidToolError);
      assert.match(error.message, /^Tool "f": /);
      assert.match(error.message, message);
      return true;
    },
  );
}

/** Validates arguments: returns `ok`, or the error text for the model. */
function verdict(schema: JsonSchema, args: unknown): string {
  const parsed = createJsonSchemaParser(schema, 'f')(args);
  return parsed.ok ? 'ok' : parsed.message;
}

test('the schema describes the input of the model, not the parsed output', () => {
  const parameters = z.object({ at: z.string().transform((text) => new Date(text)) });
  assert.deepEqual(toJsonSchema(parameters, 'f')['properties'], { at: { type: 'string' } });
});

test('the schema is a frozen copy', () => {
  const own: { type: string; properties: Record<string, object> } = {
    type: 'object',
    properties: {},
  };
  const schema = toJsonSchema(own as unknown as JsonSchema, 'f');
  own.properties['late'] = {};
  assert.deepEqual(schema, { type: 'object', properties: {} });
  assert.ok(Object.isFrozen(schema['properties']));
});

test('a union of objects describes an object', () => {
  const parameters = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a') }),
    z.object({ kind: z.literal('b'), n: z.number() }),
  ]);
  assert.ok(Array.isArray(toJsonSchema(parameters, 'f')['oneOf']));
});

test('parameters that are not an object are rejected', () => {
  assertRejected(z.string(), /must describe an object/);
  assertRejected({ type: 'array' }, /must describe an object/);
  assertRejected({}, /must describe an object/);
});

test('parameters that JSON Schema cannot express are rejected with the reason', () => {
  assertRejected(z.object({ at: z.date() }), /have no JSON Schema \(Date cannot be represented/);
  assertRejected({ type: 'object', default: Number.NaN }, /parameters\.default is NaN/);
});

test('a library without JSON Schema is rejected with an instruction', () => {
  assertRejected(
    v.object({ path: v.string() }),
    /toStandardJsonSchema\(\) of @valibot\/to-json-schema/,
  );
  const validate = (value: unknown): { value: unknown } => ({ value });
  assertRejected({ '~standard': { version: 1, vendor: 'zod', validate } }, /use zod 4/);
  assertRejected(
    { '~standard': { version: 1, vendor: 'acme', validate } },
    /are a schema of acme, .* pass a JSON Schema/,
  );
});

test('all problems of the arguments are reported together, with their paths', () => {
  const schema = {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1 },
      rows: { type: 'array', items: { type: 'object', properties: { n: { type: 'integer' } } } },
      mode: { enum: ['r', 'w'] },
    },
    required: ['path'],
    additionalProperties: false,
  };
  assert.equal(verdict(schema, { path: 'a', rows: [{ n: 1 }], mode: 'r' }), 'ok');
  assert.equal(
    verdict(schema, { rows: [{ n: 1 }, { n: 1.5 }], mode: 'x', 'z/1': 1 }),
    'The arguments are not valid: ' +
      'Instance does not have required property "path"; ' +
      'rows[1].n: Instance type "number" is invalid. Expected "integer"; ' +
      'mode: Instance does not match any of ["r","w"]; ' +
      'z/1: is not allowed. Correct them and call again.',
  );
});

test('at most ten problems are reported', () => {
  const args = Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`k${i}`, 1]));
  const message = verdict({ type: 'object', additionalProperties: false }, args);
  assert.match(message, /k9: is not allowed; and 4 more\./);
  assert.doesNotMatch(message, /k10/);
});

const keywords: readonly (readonly [
  name: string,
  schema: JsonSchema,
  bad: unknown,
  good: unknown,
])[] = [
  ['required without properties', { required: ['a'] }, {}, { a: 1 }],
  // oxlint-disable-next-line unicorn/no-thenable -- it is a keyword of JSON Schema
  ['if and then', { if: { required: ['a'] }, then: { required: ['b'] } }, { a: 1 }, { a: 1, b: 1 }],
  ['not', { properties: { a: { not: { type: 'string' } } } }, { a: 'x' }, { a: 1 }],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1 }, {}],
  [
    'unevaluatedProperties',
    { properties: { a: {} }, unevaluatedProperties: false },
    { b: 1 },
    { a: 1 },
  ],
  [
    'enum of objects',
    { properties: { a: { enum: [{ x: 1 }] } } },
    { a: { x: 2 } },
    { a: { x: 1 } },
  ],
  [
    'a recursive reference',
    {
      $defs: { node: { properties: { n: { type: 'number' }, next: { $ref: '#/$defs/node' } } } },
      $ref: '#/$defs/node',
    },
    { next: { next: { n: 'x' } } },
    { next: { next: { n: 1 } } },
  ],
  [
    'a list of items, in draft 7',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { a: { items: [{ type: 'string' }] } },
    },
    { a: [1] },
    { a: ['x', 1] },
  ],
  [
    'prefixItems',
    { properties: { a: { prefixItems: [{ type: 'string' }] } } },
    { a: [1] },
    { a: ['x'] },
  ],
];

for (const [name, schema, bad, good] of keywords) {
  test(`a JSON Schema with ${name} is enforced`, () => {
    assert.equal(verdict(schema, good), 'ok');
    assert.notEqual(verdict(schema, bad), 'ok');
  });
}

test('a JSON Schema that would fail at validation is rejected at definition', () => {
  const cases: readonly (readonly [JsonSchema, RegExp])[] = [
    [
      { $ref: 'https://example.com/schema.json' },
      /\$ref "https:\/\/example\.com\/schema\.json" leads to nothing/,
    ],
    [
      { properties: { a: { anyOf: [{ $ref: '#/$defs/gone' }] } } },
      /\$ref "#\/\$defs\/gone" leads to nothing/,
    ],
    [{ properties: { a: { pattern: '(' } } }, /"\(" is not a regular expression/],
    [{ patternProperties: { '[': {} } }, /"\[" is not a regular expression/],
  ];
  for (const [schema, message] of cases) {
    assert.throws(
      () => createJsonSchemaParser(schema, 'f'),
      (error) => error instanceof InvalidToolError && message.test(error.message),
    );
  }
});
