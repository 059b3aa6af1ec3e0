import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { Pending } from '../../src/tools/index.ts';
import { callTool } from '../mcp/call-tool.ts';
import { listed, openHostileMcp, type Answers, type HostileMcp } from './hostile-mcp.ts';

/** RegExp would need hours for this pattern. A model could well write the matching text. */
const BACKTRACKING_PATTERN = '^(a+)+$';
const LONG_TEXT = `${'a'.repeat(60)}!`;

async function openHostileToolset(
  answers: Answers,
): Promise<AsyncDisposable & { set: McpToolset; server: HostileMcp }> {
  const server = await openHostileMcp(answers);
  const set = await openMcpToolset({ name: 'hostile', url: server.url, protocol: 'legacy' });
  return {
    set,
    server,
    [Symbol.asyncDispose]: async () => {
      await set.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const positions: Readonly<Record<string, readonly [schema: object, args: object]>> = {
  pattern: [
    { properties: { a: { type: 'string', pattern: BACKTRACKING_PATTERN } } },
    { a: LONG_TEXT },
  ],
  patternProperties: [
    { patternProperties: { [BACKTRACKING_PATTERN]: {} }, additionalProperties: false },
    { [LONG_TEXT]: 1 },
  ],
  propertyNames: [{ propertyNames: { pattern: BACKTRACKING_PATTERN } }, { [LONG_TEXT]: 1 }],
  'pattern in items': [
    { properties: { a: { items: { pattern: BACKTRACKING_PATTERN } } } },
    { a: [LONG_TEXT] },
  ],
  'pattern in prefixItems': [
    { properties: { a: { prefixItems: [{ pattern: BACKTRACKING_PATTERN }] } } },
    { a: [LONG_TEXT] },
  ],
  'pattern in contains': [
    { properties: { a: { contains: { pattern: BACKTRACKING_PATTERN } } } },
    { a: [LONG_TEXT] },
  ],
  'pattern behind a $ref': [
    { $defs: { x: { pattern: BACKTRACKING_PATTERN } }, properties: { a: { $ref: '#/$defs/x' } } },
    { a: LONG_TEXT },
  ],
  'pattern in anyOf': [
    { properties: { a: { anyOf: [{ pattern: BACKTRACKING_PATTERN }] } } },
    { a: LONG_TEXT },
  ],
  'pattern in allOf': [
    { allOf: [{ properties: { a: { pattern: BACKTRACKING_PATTERN } } }] },
    { a: LONG_TEXT },
  ],
  'pattern in if and not': [
    // oxlint-disable-next-line unicorn/no-thenable -- it is a keyword of JSON Schema
    { properties: { a: { if: { not: { pattern: BACKTRACKING_PATTERN } }, then: false } } },
    { a: LONG_TEXT },
  ],
  'pattern in additionalProperties': [
    { additionalProperties: { pattern: BACKTRACKING_PATTERN } },
    { a: LONG_TEXT },
  ],
  'pattern in unevaluatedProperties': [
    { unevaluatedProperties: { pattern: BACKTRACKING_PATTERN } },
    { a: LONG_TEXT },
  ],
  'pattern in dependentSchemas': [
    { dependentSchemas: { a: { properties: { a: { pattern: BACKTRACKING_PATTERN } } } } },
    { a: LONG_TEXT },
  ],
  'format url': [{ properties: { a: { format: 'url' } } }, { a: `http://${LONG_TEXT}^` }],
};

test('a pattern with exponential backtracking, anywhere in an input schema, is checked in linear time', async () => {
  const names = Object.keys(positions);
  const tools = Object.values(positions).map(([schema], i) =>
    listed(`t${i}`, { inputSchema: { type: 'object', ...schema } }),
  );
  await using session = await openHostileToolset({ 'tools/list': () => ({ tools }) });
  const { set } = session;
  assert.deepEqual(set.refused(), []);
  assert.equal(set.tools().length, names.length);
  for (const [i, [, args]] of Object.values(positions).entries()) {
    const parsed = set.tools()[i]?.parse(args);
    assert.equal(parsed?.ok, false, names[i]);
  }
});

test('a pattern in an output schema is checked in linear time, and a result that does not match it is an error', async () => {
  const outputSchema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: BACKTRACKING_PATTERN } },
  };
  await using session = await openHostileToolset({
    'tools/list': () => ({ tools: [listed('look', { outputSchema })] }),
    'tools/call': () => ({ content: [], structuredContent: { a: LONG_TEXT } }),
  });
  await assert.rejects(callTool(session.set, 'look'), { code: 'mcp_request_failed' });
});

test('a pattern in an elicitation schema is checked in linear time, and an answer that does not match keeps the call waiting', async () => {
  const { resolveAnswer, resolveInputRequired } =
    await import('../../src/tools/mcp/tools/elicitation.ts');
  const requestedSchema = {
    type: 'object' as const,
    properties: { a: { type: 'string' as const, pattern: BACKTRACKING_PATTERN } },
  };
  const toRequest = (
    schema: typeof requestedSchema,
  ): Parameters<typeof resolveInputRequired>[0] => ({
    resultType: 'input_required',
    inputRequests: {
      one: {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'a?', requestedSchema: schema },
      },
    },
  });
  const waiting = resolveInputRequired(toRequest(requestedSchema), { server: 'hostile' });
  assert.ok(waiting instanceof Pending);
  const { resume = null } = waiting;
  const nextAnswer = resolveAnswer(
    { response: { a: LONG_TEXT }, isError: false, resume },
    { server: 'hostile' },
  );
  assert.ok(nextAnswer instanceof Pending, 'the answer does not fit');
  const unsupportedSchema = {
    ...requestedSchema,
    properties: { a: { type: 'string' as const, pattern: String.raw`(a)\1` } },
  };
  assert.throws(() => resolveInputRequired(toRequest(unsupportedSchema), { server: 'hostile' }), {
    code: 'mcp_request_failed',
    message: /the schema of its question "one" cannot be used: .*backreference/,
  });
});

test('a tool whose schema cannot be compiled is refused with the reason, and the other tools work', async () => {
  const schemas: Readonly<Record<string, readonly [object, RegExp]>> = {
    backreference: [{ properties: { a: { pattern: String.raw`(a)\1` } } }, /backreference/],
    'a reference to itself': [{ allOf: [{ $ref: '#' }] }, /leads back to itself/],
    'nested too deep': [nested(150), /deeper than 200 levels/],
    huge: [{ description: 'x'.repeat(600_000) }, /at most 500000/],
    'no such reference': [{ properties: { a: { $ref: '#/gone' } } }, /leads to nothing/],
  };
  const invalidTools = Object.values(schemas).map(([schema], i) =>
    listed(`bad${i}`, { inputSchema: { type: 'object', ...schema } }),
  );
  const output = listed('output', {
    outputSchema: { type: 'object', propertyNames: { pattern: '(' } },
  });
  await using session = await openHostileToolset({
    'tools/list': () => ({ tools: [...invalidTools, output, listed('good')] }),
  });
  const { set } = session;
  assert.deepEqual(
    set.tools().map(({ name }) => name),
    ['good'],
  );
  assert.equal(set.refused().length, invalidTools.length + 1);
  for (const [i, [, reason]] of Object.values(schemas).entries()) {
    const refused = set.refused()[i];
    assert.equal(refused?.name, `bad${i}`);
    assert.match(refused?.reason ?? '', reason);
  }
  assert.match(set.refused().at(-1)?.reason ?? '', /its output schema cannot be used/);
  assert.equal(await callTool(set, 'good'), 'done');
});

test('a schema whose references grow exponentially is limited in validation and in what is sent to providers', async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [
      `d${i}`,
      i === 0
        ? { type: 'object' }
        : { allOf: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] },
    ]),
  );
  const inputSchema = {
    type: 'object',
    $defs,
    $ref: '#/$defs/d49',
    properties: { a: { $ref: '#/$defs/d49' } },
  };
  await using session = await openHostileToolset({
    'tools/list': () => ({ tools: [listed('bomb', { inputSchema })] }),
  });
  const [tool] = session.set.tools();
  assert.ok(tool !== undefined);
  const parsed = tool.parse({ a: {} });
  assert.match(parsed.ok ? '' : parsed.message, /takes too many steps/);
  const { normalizeSchema } = await import('../../src/models/schema/normalize-schema.ts');
  for (const dialect of [
    'gemini',
    'gemini-openapi',
    'openai',
    'anthropic',
    'compatible',
  ] as const) {
    const { schema, restore } = normalizeSchema(tool.declaration.parameters, dialect);
    assert.ok(JSON.stringify(schema).length < 1_000_000, dialect);
    assert.deepEqual(restore({ a: {} }), { a: {} });
  }
});

function nested(depth: number): object {
  return depth === 0 ? {} : { properties: { a: nested(depth - 1) } };
}
