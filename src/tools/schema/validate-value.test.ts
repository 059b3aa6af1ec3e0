import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate } from '@cfworker/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { InvalidInputError, type Json, type JsonObject } from '../../core/index.ts';
import { validateValue, SchemaTooCostlyError } from './validate-value.ts';
import { prepareSchema } from './prepared-schema.ts';

function isValid(value: Json, schema: JsonObject): boolean {
  return validateValue(value, prepareSchema(schema)).length === 0;
}

/** The opinion of a second reference; undefined for the few schemas that it fails to compile. */
function isValidInAjv(value: Json, schema: JsonObject): boolean | undefined {
  try {
    const check = new Ajv2020({ strict: false, logger: false }).compile(structuredClone(schema));
    return check(JSON.parse(JSON.stringify(value)));
  } catch {
    return undefined;
  }
}

test('schemas of dependentSchemas do not see what the others evaluate', () => {
  const dependentSchemas = {
    a: { unevaluatedProperties: true },
    b: { unevaluatedProperties: false },
  };
  assert.equal(isValid({ a: null, b: null }, { dependentSchemas }), false);
});

const keys = ['a', 'b', 'c'];
const anyValue = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, 1, 2, 2.5, -1, '', 'a', 'ab', 'b1', '😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 3 }),
  ),
})).value;

const keywords = (
  tie: fc.LetrecTypedTie<{ schema: JsonObject; sub: Json }>,
): fc.Arbitrary<JsonObject> => {
  const sub = tie('sub');
  const few = fc.integer({ min: 0, max: 2 });
  const list = fc.array(sub, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(fc.constantFrom(...keys), sub, { maxKeys: 2 });
  const names = fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 2 });
  const one = <T>(keyword: string, values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
    values.map((value) => ({ [keyword]: value }));
  return fc.oneof(
    one(
      'type',
      fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null', 'boolean'),
    ),
    one('type', fc.uniqueArray(fc.constantFrom('string', 'integer', 'object'), { minLength: 1 })),
    one('properties', map),
    one('patternProperties', fc.dictionary(fc.constantFrom('^a', 'b$', '.'), sub, { maxKeys: 2 })),
    one('additionalProperties', sub),
    one('unevaluatedProperties', sub),
    one('propertyNames', sub),
    one('required', names),
    one('dependentRequired', fc.dictionary(fc.constantFrom(...keys), names, { maxKeys: 2 })),
    one('dependentSchemas', map),
    one('minProperties', few),
    one('maxProperties', few),
    one('allOf', list),
    one('anyOf', list),
    one('oneOf', list),
    one('not', sub),
    // oxlint-disable-next-line unicorn/no-thenable -- it is a keyword of JSON Schema
    fc.record({ if: sub, then: sub, else: sub }),
    one('items', sub),
    one('prefixItems', list),
    one('contains', sub),
    one('minItems', few),
    one('maxItems', few),
    one('uniqueItems', fc.boolean()),
    one('enum', fc.array(anyValue, { minLength: 1, maxLength: 3 })),
    one('const', anyValue),
    one('minLength', few),
    one('maxLength', few),
    one('pattern', fc.constantFrom('^a', 'b', String.raw`\d$`)),
    one('minimum', few),
    one('exclusiveMaximum', few),
    one('multipleOf', fc.constantFrom(0.5, 2)),
    fc.constant({ $ref: '#/$defs/x' }),
  );
};

const anySchema: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject; sub: Json }>((tie) => ({
  sub: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json>(true, false, {}),
    tie('schema'),
  ),
  schema: fc
    .array(keywords(tie), { minLength: 1, maxLength: 3 })
    .map((parts): JsonObject => Object.assign({}, ...parts) as JsonObject),
})).schema;

test('a value is valid exactly when a reference validator accepts it', () => {
  const plain: readonly string[] = ['string', 'integer', 'object'];
  fc.assert(
    fc.property(
      anySchema,
      fc.constantFrom(...plain),
      fc.array(anyValue, { maxLength: 6 }),
      (one, type, values) => {
        const schema = { ...one, $defs: { x: { type } } };
        for (const value of values) {
          const valid = isValid(value, schema);
          const { valid: expected } = validate(
            value,
            structuredClone(schema),
            '2020-12',
            undefined,
            false,
          );
          // The reference shares what is evaluated between the schemas of `dependentSchemas`, where
          // the specification keeps it apart. So a second one decides when the first disagrees.
          if (valid !== expected && isValidInAjv(value, schema) === valid) continue;
          assert.equal(valid, expected, JSON.stringify({ schema, value }));
        }
      },
    ),
    { numRuns: 1_500 },
  );
});

test('older drafts keep their meaning', () => {
  const draft4 = { $schema: 'http://json-schema.org/draft-04/schema#' };
  assert.equal(isValid(1, { ...draft4, minimum: 1, exclusiveMinimum: true }), false);
  assert.equal(isValid(1, { ...draft4, minimum: 1 }), true);
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
  const tuple = { ...draft7, items: [{ type: 'string' }], additionalItems: false };
  assert.equal(isValid(['a'], tuple), true);
  assert.equal(isValid(['a', 1], tuple), false);
  const beside = { ...draft7, definitions: { x: {} }, $ref: '#/definitions/x', type: 'string' };
  assert.equal(isValid(1, beside), true, 'what stands beside a $ref is not read');
  assert.equal(isValid({ a: 1 }, { ...draft7, dependencies: { a: ['b'] } }), false);
  const tree = {
    $schema: 'https://json-schema.org/draft/2019-09/schema',
    $recursiveAnchor: true,
    type: 'object',
    properties: { child: { $recursiveRef: '#' } },
  };
  assert.equal(isValid({ child: { child: {} } }, tree), true);
  assert.equal(isValid({ child: { child: 1 } }, tree), false);
});

test('multipleOf uses the decimal notation of numbers', () => {
  assert.equal(isValid(0.3, { multipleOf: 0.1 }), true);
  assert.equal(isValid(0.35, { multipleOf: 0.1 }), false);
  assert.equal(isValid(1e21, { multipleOf: 10 }), true);
});

test('a schema that cannot be evaluated is rejected', () => {
  const bomb: Record<string, Json> = {};
  const nested = (depth: number): JsonObject =>
    depth === 0 ? {} : { properties: { a: nested(depth - 1) } };
  const cases: readonly (readonly [JsonObject, RegExp])[] = [
    [{ $ref: '#' }, /leads back to itself/],
    [{ $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, /leads back to itself/],
    [{ anyOf: [{ type: 'string' }, { allOf: [{ $ref: '#' }] }] }, /leads back to itself/],
    [{ if: { not: { $ref: '#' } } }, /leads back to itself/],
    [nested(101), /deeper than 200 levels/],
    [{ description: 'x'.repeat(500_001) }, /has \d+ characters; at most 500000/],
    [
      { properties: Object.fromEntries(Array.from({ length: 20_001 }, (_, i) => [`p${i}`, {}])) },
      /more than 20000 parts/,
    ],
    [{ pattern: '^(a+)+\\1$' }, /backreference/],
    [
      { allOf: Array.from({ length: 60 }, (_, i) => ({ pattern: `[ab]{${900 + i}}` })) },
      /too many repetitions/,
    ],
    [{ ...bomb, $id: 'http://[' }, /references cannot be read/],
  ];
  for (const [schema, message] of cases) {
    assert.throws(
      () => prepareSchema(schema),
      (error) => error instanceof InvalidInputError && message.test(error.message),
      String(message),
    );
  }
});

test('a schema whose work doubles at every level stops after a bounded number of steps', () => {
  const doubling = (wrap: (ref: JsonObject) => JsonObject): JsonObject => ({
    $defs: Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `d${i}`,
        i === 0 ? {} : wrap({ $ref: `#/$defs/d${i - 1}` }),
      ]),
    ),
    $ref: '#/$defs/d59',
  });
  const schemas = [
    doubling((ref) => ({ allOf: [ref, ref] })),
    doubling((ref) => ({ anyOf: [ref, ref] })),
    doubling((ref) => ({ oneOf: [ref, { not: ref }] })),
    // oxlint-disable-next-line unicorn/no-thenable -- it is a keyword of JSON Schema
    doubling((ref) => ({ if: ref, then: ref })),
  ];
  for (const schema of schemas) {
    const prepared = prepareSchema(schema);
    assert.throws(() => validateValue('x', prepared), SchemaTooCostlyError);
  }
  const branching = prepareSchema({
    anyOf: [{ properties: { a: { $ref: '#' } } }, { properties: { a: { $ref: '#' }, b: false } }],
  });
  const deep = Array.from({ length: 60 }).reduce<Json>((inner) => ({ a: inner, b: 1 }), {});
  assert.throws(() => validateValue(deep, branching), SchemaTooCostlyError);
});

test('strings with many costly patterns stop after a bounded number of steps', () => {
  const schema = prepareSchema({ items: { pattern: '^[ab]*a[ab]{900}$' } });
  const value = Array.from({ length: 1_000 }, () => 'ab'.repeat(500));
  assert.throws(() => validateValue(value, schema), SchemaTooCostlyError);
});

test('keywords that read the whole value stop after a bounded number of steps', () => {
  const often = (schema: JsonObject): JsonObject => ({ allOf: Array(4_000).fill(schema) });
  const list = Array.from({ length: 20_000 }, (_, i) => i);
  const members = Object.fromEntries(list.map((i) => [`a${i}`, i]));
  const patternProperties = Object.fromEntries(list.slice(0, 2_000).map((i) => [`a${i}`, {}]));
  const text = 'a'.repeat(100_000);
  const cases: readonly (readonly [JsonObject, Json])[] = [
    [often({ minLength: 1 }), text],
    [often({ format: 'uri' }), `http://a/${text}`],
    [often({ format: 'regex' }), '(a{1,30}){1,30}'.repeat(100)],
    [often({ uniqueItems: true }), list],
    [often({ const: { a: 1 } }), list],
    [often({ enum: [{ a: 1 }] }), list],
    [often({ maxProperties: 1 }), members],
    [{ items: { enum: list } }, list.map((i) => `${i}`)],
    [{ items: { patternProperties } }, list.map(() => ({}))],
    [{ items: { dependentRequired: { ...members } } }, list.map(() => ({}))],
    [{ items: { prefixItems: list } }, list.map(() => [1])],
    [
      Array(90)
        .fill(0)
        .reduce<JsonObject>((inner) => ({ allOf: [inner] }), { items: true }),
      list,
    ],
  ];
  for (const [schema, value] of cases)
    assert.throws(() => validateValue(value, prepareSchema(schema)), SchemaTooCostlyError);
  const patterns = Array.from({ length: 50 }, (_, i) => ({
    pattern: `^${'(a{9}){9}'.repeat(50)}${i}`,
  }));
  assert.throws(() => prepareSchema({ allOf: patterns }), /too many repetitions/);
  // Large and simple values are validated.
  const plain = prepareSchema({
    properties: { text: { minLength: 1 }, list: { uniqueItems: true, items: { enum: [0, 1] } } },
    maxProperties: 9,
  });
  assert.deepEqual(validateValue({ text: 'a'.repeat(1_000_000), list: [1, 0] }, plain), []);
});

test('formats take time linear in the length of the text', () => {
  const long = 'a'.repeat(50_000);
  const evil = [
    `http://${long}`,
    `${long}@`,
    `1.${long}`,
    `{${long}`,
    `/${long}~`,
    `http://${'a'.repeat(40)}-`,
  ];
  const formats =
    'date time date-time duration uri uri-reference uri-template url email hostname ipv4 ipv6 regex uuid json-pointer json-pointer-uri-fragment relative-json-pointer';
  for (const format of formats.split(' ')) {
    for (const text of evil) assert.equal(typeof isValid(text, { format }), 'boolean');
  }
  assert.equal(isValid(`https://example.com/${long}`, { format: 'uri' }), true);
  assert.equal(isValid('no uri', { format: 'uri' }), false);
  assert.equal(isValid('ftp://example.com/x', { format: 'url' }), true);
  assert.equal(isValid('(a+)+', { format: 'regex' }), true);
  assert.equal(isValid('(', { format: 'regex' }), false);
  assert.equal(isValid('anything', { format: 'constructor' }), true);
});

test('members named like members of Object.prototype are ordinary members', () => {
  const value = JSON.parse('{"__proto__": 1, "constructor": 2}') as Json;
  assert.equal(isValid(value, { additionalProperties: false }), false);
  assert.equal(isValid({}, { required: ['toString'] }), false);
  const schema = JSON.parse('{"properties": {"__proto__": {"type": "string"}}}') as JsonObject;
  assert.equal(isValid(value, schema), false);
});
