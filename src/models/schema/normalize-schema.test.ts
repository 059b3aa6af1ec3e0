import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import * as fc from 'fast-check';
import { deepFreeze, type Json, type JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { normalizeSchema, type SchemaDialect } from './normalize-schema.ts';

const dialects: readonly SchemaDialect[] = [
  'gemini',
  'gemini-openapi',
  'openai',
  'anthropic',
  'compatible',
];

function isValid(value: unknown, schema: JsonSchema): boolean {
  // The validator adds properties to the schema that it gets.
  return new Validator(structuredClone(schema), '2020-12').validate(value).valid;
}

test('the top level is one object, whatever it was composed from', () => {
  const schema: JsonSchema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://example.com/pet',
    $comment: 'For people.',
    oneOf: [
      {
        properties: {
          kind: { const: 'dog' },
          name: { type: 'string' },
          tricks: { type: 'integer' },
        },
        required: ['kind', 'name', 'tricks'],
      },
      {
        type: 'object',
        properties: { kind: { const: 'cat' }, name: { type: 'string' } },
        required: ['kind', 'name'],
      },
    ],
    allOf: [{ properties: { owner: { type: 'string' } }, required: ['owner', 'nobody'] }],
    not: { required: ['fleas'] },
  };
  const { schema: normalized } = normalizeSchema(schema, 'compatible');
  assert.deepEqual(normalized, {
    type: 'object',
    properties: {
      owner: { type: 'string' },
      kind: { anyOf: [{ const: 'dog' }, { const: 'cat' }] },
      name: { type: 'string' },
      tricks: { type: 'integer' },
    },
    required: ['owner', 'kind', 'name'],
  });
});

test('a recursive schema is expanded once and then cut', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    $defs: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
        required: ['name'],
      },
    },
  };
  for (const dialect of ['gemini', 'compatible'] as const) {
    const normalized = JSON.stringify(normalizeSchema(schema, dialect).schema);
    assert.equal(normalized.match(/"name":\{/g)?.length, 2, dialect);
    assert.doesNotMatch(normalized, /\$ref|\$defs/);
  }
  const { schema: strict } = normalizeSchema(schema, 'openai');
  assert.match(JSON.stringify(strict), /"\$ref":"#\/\$defs\/node"/);
});

test('definitions that refer to several others do not grow without limit', () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `d${i}`,
      {
        type: 'object',
        properties: { a: { $ref: `#/$defs/d${i + 1}` }, b: { $ref: `#/$defs/d${i + 1}` } },
      },
    ]),
  );
  const schema: JsonSchema = { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs };
  const normalized = JSON.stringify(normalizeSchema(schema, 'compatible').schema);
  assert.ok(normalized.length < 1_000_000);
});

test('a schema for Gemini has the keywords that Gemini supports, and the rest in the description', () => {
  const { schema } = normalizeSchema(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        kind: { const: 'a' },
        flag: { enum: [true, false], description: 'On or off' },
        code: { type: 'string', pattern: '^x', minLength: 2, default: 'xy' },
        either: { oneOf: [{ type: 'string' }, { type: 'integer', exclusiveMinimum: 0 }] },
        both: {
          allOf: [
            { type: 'object', properties: { a: {} } },
            { properties: { b: {} }, required: ['b'] },
          ],
        },
      },
    },
    'gemini',
  );
  assert.deepEqual(schema, {
    type: 'object',
    additionalProperties: false,
    properties: {
      kind: { enum: ['a'] },
      flag: { description: 'On or off (one of: [true,false])' },
      code: { type: 'string', description: 'pattern: "^x", minLength: 2, default: "xy"' },
      either: {
        anyOf: [{ type: 'string' }, { type: 'integer', description: 'exclusiveMinimum: 0' }],
      },
      both: { type: 'object', properties: { a: {}, b: {} }, required: ['b'] },
    },
  });
});

test('the older Gemini field gets string enums and nullable, and restore() returns the original values', () => {
  const original: JsonSchema = {
    type: 'object',
    properties: {
      level: { enum: [1, 2, 'x'] },
      maybe: { type: ['string', 'null'] },
      more: { type: 'object', additionalProperties: { type: 'number' } },
    },
  };
  const { schema, restore } = normalizeSchema(original, 'gemini-openapi');
  assert.deepEqual(schema, {
    type: 'object',
    properties: {
      level: { type: 'string', enum: ['1', '2', 'x'] },
      maybe: { type: 'string', nullable: true },
      more: { type: 'object', description: 'an object with further members of any name' },
    },
  });
  assert.deepEqual(restore({ level: '2', maybe: null }), { level: 2, maybe: null });
  assert.deepEqual(restore({ level: 'x' }), { level: 'x' });
});

test('a schema for OpenAI is strict: closed, all properties required, and restore() removes the added nulls', () => {
  const original: JsonSchema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer', minimum: 1 },
      unit: { enum: ['C', 'F'] },
      note: { type: ['string', 'null'] },
      place: {
        type: 'object',
        properties: { lat: { type: 'number' }, lon: { type: 'number' } },
        required: ['lat'],
      },
    },
    required: ['city'],
  };
  const { schema, strict, restore } = normalizeSchema(original, 'openai');
  assert.equal(strict, true);
  assert.deepEqual(schema, {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: ['integer', 'null'], minimum: 1 },
      unit: { anyOf: [{ enum: ['C', 'F'] }, { type: 'null' }] },
      note: { type: ['string', 'null'] },
      place: {
        anyOf: [
          {
            type: 'object',
            properties: { lat: { type: 'number' }, lon: { type: ['number', 'null'] } },
            required: ['lat', 'lon'],
            additionalProperties: false,
          },
          { type: 'null' },
        ],
      },
    },
    required: ['city', 'days', 'unit', 'note', 'place'],
    additionalProperties: false,
  });
  assert.deepEqual(
    restore({ city: 'Rome', days: null, unit: null, note: null, place: { lat: 1, lon: null } }),
    { city: 'Rome', note: null, place: { lat: 1 } },
  );
});

test('a schema that is too large for strict mode is sent without it', () => {
  const texts = (count: number, length: number): readonly string[] =>
    Array.from({ length: count }, (_, i) => `${i}`.padStart(length, 'x'));
  const schemaWithProperties = (names: readonly string[]): JsonSchema => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  });
  const schemaWithEnum = (values: readonly string[]): JsonSchema => ({
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'string', enum: values } } },
  });
  const isStrict = (schema: JsonSchema): boolean | undefined =>
    normalizeSchema(schema, 'openai').strict;
  assert.deepEqual(
    [5000, 5001].map((n) => isStrict(schemaWithProperties(texts(n, 5)))),
    [true, false],
  );
  assert.deepEqual(
    [1000, 1001].map((n) => isStrict(schemaWithEnum(texts(n, 5)))),
    [true, false],
  );
  assert.deepEqual(
    [119, 121].map((n) => isStrict(schemaWithProperties(texts(1000, n)))),
    [true, false],
  );
  assert.deepEqual(
    [49, 51].map((n) => isStrict(schemaWithEnum(texts(300, n)))),
    [true, false],
  );
});

test('a schema that strict mode cannot express is sent without it', () => {
  const loose: readonly JsonSchema[] = [
    { type: 'object', properties: { any: {} } },
    {
      type: 'object',
      properties: { map: { type: 'object', additionalProperties: { type: 'string' } } },
    },
    { type: 'object', properties: { open: { type: 'object' } } },
    { type: 'object', properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }] } } },
    { type: 'object', properties: { a: { type: 'string', not: { const: 'x' } } } },
    { type: 'object', patternProperties: { '^x': { type: 'string' } } },
    { type: 'object' },
  ];
  for (const schema of loose) {
    assert.equal(normalizeSchema(schema, 'openai').strict, false, JSON.stringify(schema));
  }
  const none: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };
  assert.equal(normalizeSchema(none, 'openai').strict, true);
});

test('restore() removes nulls that belong to another alternative of a union', () => {
  const original: JsonSchema = {
    anyOf: [
      {
        type: 'object',
        properties: { id: { type: 'string' } },
        required: ['id'],
        additionalProperties: false,
      },
      {
        type: 'object',
        properties: { name: { type: 'string' } },
        required: ['name'],
        additionalProperties: false,
      },
    ],
  };
  const { strict, restore } = normalizeSchema(original, 'openai');
  assert.equal(strict, true);
  assert.deepEqual(restore({ id: null, name: 'x' }), { name: 'x' });
  assert.deepEqual(restore({ id: 'i', name: null }), { id: 'i' });
});

test('property names that Anthropic rejects are renamed and restored', () => {
  const long = 'x'.repeat(80);
  const original: JsonSchema = {
    type: 'object',
    properties: {
      'the query': { type: 'string' },
      [long]: { type: 'object', properties: { å: { type: 'string' } }, required: ['å'] },
      fine: { type: 'string' },
    },
    required: ['the query'],
  };
  const { schema, restore } = normalizeSchema(original, 'anthropic');
  const { properties } = schema as { properties: JsonObject };
  const names = Object.keys(properties);
  assert.ok(names.every((name) => /^[A-Za-z0-9_.-]{1,64}$/.test(name)));
  assert.deepEqual(schema['required'], [names[0]]);
  const [query = '', deep = ''] = names;
  const inner = Object.keys((properties[deep] as { properties: JsonObject }).properties)[0] ?? '';
  assert.deepEqual(restore({ [query]: 'q', [deep]: { [inner]: 'v' }, fine: 'f', other: 1 }), {
    'the query': 'q',
    [long]: { å: 'v' },
    fine: 'f',
    other: 1,
  });
});

test('the original schema is not changed, and normalizing it again gives the same result', () => {
  const original = deepFreeze<JsonSchema>({
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { $ref: '#' }] }, 'b c': { const: 1 } },
    required: ['a'],
  });
  for (const dialect of dialects) {
    const once = normalizeSchema(original, dialect);
    assert.deepEqual(normalizeSchema(original, dialect).schema, once.schema, dialect);
  }
});

// A schema with a value of it, and the value as a strict model writes it: missing optional members are null.
type Sample = { readonly schema: JsonSchema; readonly value: Json; readonly written: Json };

const leaf: fc.Arbitrary<Sample> = fc.oneof(
  fc.string().map((value) => ({ schema: { type: 'string' }, value, written: value })),
  fc.integer().map((value) => ({ schema: { type: 'integer' }, value, written: value })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value, written: value })),
  fc.constant({ schema: { type: ['string', 'null'] }, value: null, written: null }),
  fc
    .constantFrom('a', 'b')
    .map((value) => ({ schema: { enum: ['a', 'b'] }, value, written: value })),
);

function objectSchema(inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> {
  const member = fc.record({ sample: inner, required: fc.boolean(), given: fc.boolean() });
  return fc
    .dictionary(
      fc.string({ minLength: 1, maxLength: 5 }).filter((k) => k !== '__proto__'),
      member,
      { maxKeys: 4 },
    )
    .map((members) => {
      const all = Object.entries(members);
      const isGiven = ({ required, given }: (typeof all)[number][1]): boolean => required || given;
      return {
        schema: {
          type: 'object',
          properties: Object.fromEntries(all.map(([name, { sample }]) => [name, sample.schema])),
          required: all.filter(([, { required }]) => required).map(([name]) => name),
          additionalProperties: false,
        },
        value: Object.fromEntries(
          all.filter(([, m]) => isGiven(m)).map(([name, m]) => [name, m.sample.value]),
        ),
        written: Object.fromEntries(
          all.map(([name, m]) => [name, isGiven(m) ? m.sample.written : null]),
        ),
      };
    });
}

const sample: fc.Arbitrary<Sample> = fc.letrec<{ any: Sample; object: Sample }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    leaf,
    tie('object'),
    fc.array(tie('object'), { maxLength: 1 }).map((items) => ({
      schema: { type: 'array', items: items[0]?.schema ?? { type: 'string' } },
      value: items.map(({ value }) => value),
      written: items.map(({ written }) => written),
    })),
    // The alternative that does not match stands before the one that matches.
    tie('object').map((one) => ({
      ...one,
      schema: {
        anyOf: [
          {
            type: 'object',
            properties: { no: { const: 1 } },
            required: ['no'],
            additionalProperties: false,
          },
          one.schema,
        ],
      },
    })),
  ),
  object: objectSchema(tie('any')),
})).object;

// An optional null that the schema allows cannot be distinguished from an omitted member.
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

test('a value from a strict model is restored to what the original schema means', () => {
  fc.assert(
    fc.property(sample, ({ schema, value, written }) => {
      fc.pre(isValid(value, schema));
      const normalized = normalizeSchema(schema, 'openai');
      fc.pre(normalized.strict === true);
      assert.ok(isValid(written, normalized.schema), 'strict mode allows what the model writes');
      const restored = normalized.restore(written as JsonObject);
      assert.ok(isValid(restored, schema), 'the original allows what comes back');
      assert.deepEqual(withoutNulls(restored), withoutNulls(value));
    }),
    { numRuns: 400 },
  );
});

test('arguments that need no restoring are not touched', () => {
  fc.assert(
    fc.property(sample, fc.constantFrom(...dialects), ({ schema, value }, dialect) => {
      fc.pre(dialect !== 'anthropic' && dialect !== 'gemini-openapi');
      const { restore } = normalizeSchema(schema, dialect);
      assert.deepEqual(withoutNulls(restore(value as JsonObject)), withoutNulls(value));
    }),
    { numRuns: 200 },
  );
});

test('a schema for Anthropic has valid names only, and every value is restored under its original name', () => {
  fc.assert(
    fc.property(sample, ({ schema, value }) => {
      const { schema: normalized, restore } = normalizeSchema(schema, 'anthropic');
      const sent = withNormalizedNames(value, schema, normalized);
      assert.deepEqual(restore(sent as JsonObject), value);
    }),
    { numRuns: 200 },
  );
});

// Both schemas have their names in the same order.
function withNormalizedNames(value: Json, original: JsonSchema, normalized: JsonSchema): Json {
  if (Array.isArray(value)) {
    const items = [original['items'], normalized['items']] as readonly JsonSchema[];
    return (value as readonly Json[]).map((one) =>
      withNormalizedNames(one, items[0] ?? {}, items[1] ?? {}),
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  const [from, to] = [last(original), last(normalized)];
  const names = Object.keys((from['properties'] ?? {}) as JsonObject);
  const safe = Object.keys((to['properties'] ?? {}) as JsonObject);
  const member = (of: JsonSchema, name: string | undefined): JsonSchema =>
    ((of['properties'] ?? {}) as Record<string, JsonSchema>)[name ?? ''] ?? {};
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const other = safe[names.indexOf(name)];
      assert.match(other ?? '', /^[A-Za-z0-9_.-]{1,64}$/);
      return [other ?? name, withNormalizedNames(one, member(from, name), member(to, other))];
    }),
  );
}

function last(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? ((anyOf as readonly JsonSchema[]).at(-1) ?? schema) : schema;
}
