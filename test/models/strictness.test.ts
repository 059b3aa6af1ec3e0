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

/** A body that the provider accepts: a question, two calls with thinking, their results, an answer, a question. */
async function goodBody(format: WireFormat): Promise<Body> {
  const toolCalls = ['a', 'b'].map((of) => ({ name: 'lookup', args: { of }, id: `id_${of}` }));
  const turns = [{ thinking: 'Hm.', thoughtSignature: 'c2VhbGVk', toolCalls }, { text: 'Done.' }];
  await using wire = await openWireModel(format, turns);
  const { content } = await ask(wire.model, { tools: [lookup] });
  const said = withCallIds(content, 'e-1', 0);
  const parts = getFunctionCalls(said).map(({ id, name }) => ({
    functionResponse: { id, name, response: { found: true } },
  }));
  const contents: readonly Content[] = [
    { role: 'user', parts: [{ text: 'Look it up.' }] },
    said,
    { role: 'tool', parts },
    { role: 'model', parts: [{ text: 'Found.' }] },
    { role: 'user', parts: [{ text: 'Thank you.' }] },
  ];
  await ask(wire.model, { tools: [lookup], contents });
  const body = wire.server.requests[1]?.body;
  assert.ok(body);
  return body;
}

/** The body with each object in it, at any depth, changed, or left out where the change gives nothing. */
function changed(value: unknown, change: (object: Body) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((one: unknown) => changed(one, change)).filter((one) => one !== undefined);
  }
  if (typeof value !== 'object' || value === null) return value;
  const here = change(value as Body);
  if (typeof here !== 'object' || here === null || here !== value) return here;
  return Object.fromEntries(
    Object.entries(here).flatMap(([key, inner]) => {
      const next = changed(inner, change);
      return next === undefined ? [] : [[key, next] as const];
    }),
  );
}

/** The messages, whatever they are called. */
function listMessages(body: Body): readonly Body[] {
  return (body['messages'] ?? body['contents'] ?? body['input']) as readonly Body[];
}

function withMessages(body: Body, messages: readonly Body[]): Body {
  const key = ['messages', 'contents', 'input'].find((one) => one in body) ?? '';
  return { ...body, [key]: messages };
}

function saysResult(text: string): boolean {
  return /tool_result|functionResponse|function_call_output|"role":"tool"/.test(text);
}

/** Without one of the two results, wherever it stands. */
function withoutAResult(body: Body): unknown {
  let left = 1;
  return changed(body, (object) => {
    const isResult =
      'functionResponse' in object ||
      object['type'] === 'tool_result' ||
      object['type'] === 'function_call_output' ||
      object['role'] === 'tool';
    return isResult && left-- > 0 ? undefined : object;
  });
}

/** The results before the calls they answer. */
function outOfOrder(body: Body): Body {
  const messages = listMessages(body);
  const results = messages.filter((message) => saysResult(JSON.stringify(message)));
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

function withEmptyText(body: Body): unknown {
  return JSON.parse(JSON.stringify(body).replace('"Found."', '""'));
}

function withoutSeals(body: Body): unknown {
  return JSON.parse(
    JSON.stringify(body).replaceAll(
      /,"(?:thoughtSignature|signature|encrypted_content)":"[^"]*"/g,
      '',
    ),
  );
}

function withSchemaWord(body: Body): unknown {
  const word = '"$schema":"x","oneOf":[{"type":"object"}],"not":{},';
  return JSON.parse(
    JSON.stringify(body).replaceAll(
      '{"type":"object","properties"',
      `{${word}"type":"object","properties"`,
    ),
  );
}

const faults: readonly (readonly [name: string, spoil: (body: Body) => unknown, knows?: RegExp])[] =
  [
    ['a call without its answer', withoutAResult],
    ['results before their calls', outOfOrder],
    ['an empty text', withEmptyText],
    // The others give no seals.
    ['thinking without its seal', withoutSeals, /gemini|responses|anthropic/],
    // The others read no schema closely.
    [
      'a word of a schema it does not know',
      withSchemaWord,
      /gemini|openai (?:chat|responses)|anthropic/,
    ],
  ];

for (const format of wireFormats) {
  describe(`the server that talks like ${format.name}`, () => {
    for (const [name, spoil, knows = /./] of faults) {
      if (!knows.test(format.name)) continue;
      it(`refuses ${name}`, async () => {
        const body = await goodBody(format);
        assert.equal(format.complaint(body), undefined);
        const spoilt = spoil(body);
        assert.notDeepEqual(spoilt, body, 'the fault is there');
        assert.notEqual(format.complaint(spoilt as Body), undefined);
      });
    }
  });
}
