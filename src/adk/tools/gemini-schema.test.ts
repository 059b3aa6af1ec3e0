import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromGeminiSchema } from './gemini-schema.ts';

test('a schema of Gemini becomes JSON Schema at every depth', () => {
  const schema = fromGeminiSchema({
    type: 'OBJECT',
    propertyOrdering: ['tags', 'type'],
    properties: {
      // A property may have the name of a keyword.
      type: { type: 'STRING', nullable: true, enum: ['OBJECT'] },
      tags: { type: 'ARRAY', minItems: '1', maxItems: '3', items: { type: 'STRING' } },
      size: { anyOf: [{ type: 'INTEGER' }, { type: 'OBJECT', properties: {} }] },
    },
    required: ['tags'],
  });
  assert.deepEqual(schema, {
    type: 'object',
    properties: {
      type: { type: ['string', 'null'], enum: ['OBJECT'] },
      tags: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'string' } },
      size: { anyOf: [{ type: 'integer' }, { type: 'object', properties: {} }] },
    },
    required: ['tags'],
  });
});

test('another schema is the same object', () => {
  const schema = { type: 'object', properties: { type: { const: 'OBJECT' } } } as const;
  assert.equal(fromGeminiSchema(schema), schema);
});
