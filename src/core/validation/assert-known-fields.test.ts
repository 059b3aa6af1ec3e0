import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import { InvalidInputError, UnknownFieldError } from '../index.ts';
import { parseJsonWithSchema } from '../validation/parse-with-schema.ts';

const point = v.object({ x: v.number(), y: v.optional(v.number()) });
const schema = v.object({
  name: v.string(),
  points: v.optional(v.array(point)),
  where: v.optional(v.union([v.string(), point, v.object({ place: v.string(), zip: v.number() })])),
  shape: v.optional(
    v.variant('type', [
      v.object({ type: v.literal('circle'), radius: v.number() }),
      v.object({ type: v.literal('square'), side: v.nullish(v.number()) }),
    ]),
  ),
  labels: v.optional(v.record(v.string(), point)),
  free: v.optional(v.looseObject({ inner: v.optional(point) })),
});

const refused: readonly (readonly [
  field: string,
  suggestion: string | undefined,
  value: object,
])[] = [
  ['value.nmae', 'name', { nmae: 'a' }],
  ['value.naem', 'name', { name: 'a', naem: 'b' }],
  ['value.wholly_other', undefined, { name: 'a', wholly_other: 1 }],
  ['value.points[1].z', 'x', { name: 'a', points: [{ x: 1 }, { x: 1, z: 2 }] }],
  ['value.where.zap', 'zip', { name: 'a', where: { place: 'b', zap: 1 } }],
  ['value.shape.raduis', 'radius', { name: 'a', shape: { type: 'circle', raduis: 1 } }],
  ['value.shape.radius', undefined, { name: 'a', shape: { type: 'square', radius: 1 } }],
  ['value.shape.typ', 'type', { name: 'a', shape: { typ: 'circle', radius: 1 } }],
  ['value.labels.any.yy', 'y', { name: 'a', labels: { any: { x: 1, yy: 1 } } }],
  ['value.free.inner.w', 'x', { name: 'a', free: { other: 1, inner: { x: 1, w: 1 } } }],
  ['value["a\\nb"]', undefined, { name: 'a', 'a\nb': 1 }],
];

for (const [field, suggestion, value] of refused)
  test(`${JSON.stringify(value)} is rejected, and the error names ${field}`, () => {
    assert.throws(
      () => parseJsonWithSchema(schema, value, 'value'),
      (error) =>
        error instanceof UnknownFieldError &&
        error.code === 'invalid_input' &&
        error.field === field &&
        error.suggestion === suggestion,
    );
  });

const wrong: readonly (readonly [field: string, value: object])[] = [
  ['value.labels', { name: 'a', labels: [{ x: 1 }] }],
  ['value.points[0]', { name: 'a', points: [[]] }],
  ['value.free', { name: 'a', free: [] }],
  ['value.labels.__proto__', JSON.parse('{"name":"a","labels":{"__proto__":{"x":1}}}') as object],
  ['value.labels.constructor', { name: 'a', labels: { constructor: { x: 1 } } }],
];

for (const [field, value] of wrong)
  test(`${JSON.stringify(value)} is rejected, and the error explains the problem of ${field}`, () => {
    assert.throws(
      () => parseJsonWithSchema(schema, value, 'value'),
      (error) =>
        error instanceof InvalidInputError &&
        !(error instanceof UnknownFieldError) &&
        error.field === field,
    );
  });

test('fields of the schema are accepted', () => {
  for (const value of [
    { name: 'a', points: [{ x: 1, y: 2 }], where: 'here' },
    { name: 'a', where: { x: 1 }, shape: { type: 'square', side: null } },
    { name: 'a', where: { place: 'b', zip: 1 }, labels: { any: { x: 1 } }, free: { other: 1 } },
  ])
    assert.deepEqual(parseJsonWithSchema(schema, value, 'value'), value);
});

test('an error shows a value only if it cannot be a secret', () => {
  const messageFor = (value: object): string => {
    try {
      parseJsonWithSchema(schema, { name: 'a', ...value }, 'value');
    } catch (error) {
      return String(error);
    }
    return assert.fail();
  };
  assert.match(messageFor({ apiKey: 'sk-1' }), /^(?!.*sk-1).*value\.apiKey: is unknown/);
  assert.match(messageFor({ strictly: true }), /\(it is true\)/);
});

test('an invalid field of a union option is reported by its own path', () => {
  assert.throws(
    () => parseJsonWithSchema(schema, { name: 'a', where: { place: 'b', zip: 'c' } }, 'value'),
    {
      field: 'value.where.zip',
    },
  );
});
