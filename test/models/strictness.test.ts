import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getFunctionCalls } from '../../src/core/index.ts';
import type { Content } from '../../src/core/index.ts';
import { withCallIds } from '../../src/models/index.ts';
import type { ToolDeclaration } from '../../src/models/index.ts';
import { ask, openWireModel } from './wire-model.ts';
import type { Body, WireFormat } from './wire/wire-format.ts';
import { wireFormats } from './wire/wire-formats.ts';

const lookup: ToolDeclaration = {
  name: 'lookup',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
};

/**
 * A body that the provider accepts: a question, two calls with thinking, their results, an
 * answer, and a question.
 */
async function goodBody(format: WireFormat): Promise<Body> {
  const toolCalls = ['a', 'b'].map((of) => ({ name: 'lookup', args: { of }, id: `id_${of}` }));
  const turns = [{ thinking: 'Hm.', thoughtSignature: 'c2VhbGVk', toolCalls }, { text: 'Done.' }];
  await using wire = await openWireModel(format, turns);
  const { content } = await ask(wire.model, { tools: [lookup] });
  const modelContent = withCallIds(content, 'e-1', 0);
  const parts = getFunctionCalls(modelContent).map(({ id, name }) => ({
    functionResponse: { id, name, response: { found: true } },
  }));
  const contents: readonly Content[] = [
    { role: 'user', parts: [{ text: 'Look it up.' }] },
    modelContent,
    { role: 'tool', parts },
    { role: 'model', parts: [{ text: 'Found.' }] },
    { role: 'user', parts: [{ text: 'Thank you.' }] },
  ];
  await ask(wire.model, { tools: [lookup], contents });
  const body = wire.server.requests[1]?.body;
  assert.ok(body);
  return body;
}

/**
 * Applies `change` to each object of the body at any depth. An object for which it returns
 * undefined is removed.
 */
function mapObjects(value: unknown, change: (object: Body) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((one: unknown) => mapObjects(one, change)).filter((one) => one !== undefined);
  }
  if (typeof value !== 'object' || value === null) return value;
  const replaced = change(value as Body);
  if (typeof replaced !== 'object' || replaced === null || replaced !== value) return replaced;
  return Object.fromEntries(
    Object.entries(replaced).flatMap(([key, inner]) => {
      const next = mapObjects(inner, change);
      return next === undefined ? [] : [[key, next] as const];
    }),
  );
}

/** The messages of a body, under the name that the provider uses. */
function listMessages(body: Body): readonly Body[] {
  return (body['messages'] ?? body['contents'] ?? body['input']) as readonly Body[];
}

function withMessages(body: Body, messages: readonly Body[]): Body {
  const key = ['messages', 'contents', 'input'].find((one) => one in body) ?? '';
  return { ...body, [key]: messages };
}

function isResultText(text: string): boolean {
  return /tool_result|functionResponse|function_call_output|"role":"tool"/.test(text);
}

/** Removes one of the two results. */
function removeOneResult(body: Body): unknown {
  let remaining = 1;
  return mapObjects(body, (object) => {
    const isResult =
      'functionResponse' in object ||
      object['type'] === 'tool_result' ||
      object['type'] === 'function_call_output' ||
      object['role'] === 'tool';
    return isResult && remaining-- > 0 ? undefined : object;
  });
}

/** Moves the results before the calls that they answer. */
function moveResultsFirst(body: Body): Body {
  const messages = listMessages(body);
  const results = messages.filter((message) => isResultText(JSON.stringify(message)));
  const rest = messages.filter((message) => !results.includes(message));
  const afterQuestion = rest.findIndex((message) =>
    JSON.stringify(message).includes('Look it up.'),
  );
  return withMessages(body, [
    ...rest.slice(0, afterQuestion + 1),
    ...results,
    ...rest.slice(afterQuestion + 1),
  ]);
}

function emptyText(body: Body): unknown {
  return JSON.parse(JSON.stringify(body).replace('"Found."', '""'));
}

function removeSignatures(body: Body): unknown {
  return JSON.parse(
    JSON.stringify(body).replaceAll(
      /,"(?:thoughtSignature|signature|encrypted_content)":"[^"]*"/g,
      '',
    ),
  );
}

function addSchemaKeywords(body: Body): unknown {
  const keywords = '"$schema":"x","oneOf":[{"type":"object"}],"not":{},';
  return JSON.parse(
    JSON.stringify(body).replaceAll(
      '{"type":"object","properties"',
      `{${keywords}"type":"object","properties"`,
    ),
  );
}

const faults: readonly (readonly [name: string, spoil: (body: Body) => unknown, knows?: RegExp])[] =
  [
    ['a call without its result', removeOneResult],
    ['results before their calls', moveResultsFirst],
    ['an empty text part', emptyText],
    // The other providers have no signatures.
    ['thinking without its signature', removeSignatures, /gemini|responses|anthropic/],
    // The other providers do not check schemas.
    [
      'an unsupported schema keyword',
      addSchemaKeywords,
      /gemini|openai (?:chat|responses)|anthropic/,
    ],
  ];

for (const format of wireFormats) {
  describe(`the fake server of ${format.name}`, () => {
    for (const [name, breakBody, appliesTo = /./] of faults) {
      if (!appliesTo.test(format.name)) continue;
      it(`rejects ${name}`, async () => {
        const body = await goodBody(format);
        assert.equal(format.complaint(body), undefined);
        const brokenBody = breakBody(body);
        assert.notDeepEqual(brokenBody, body, 'the body was changed');
        assert.notEqual(format.complaint(brokenBody as Body), undefined);
      });
    }
  });
}
