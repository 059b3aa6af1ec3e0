import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Content, Part } from '../../src/core/index.ts';
import { resolveModel } from '../../src/models/index.ts';
import type { ToolDeclaration } from '../../src/models/index.ts';
import { ask } from './wire-model.ts';
import { asBody } from './wire/wire-format.ts';
import { wireEnv } from './wire/wire-server.ts';
import { wireFormats } from './wire/wire-formats.ts';

const lookup: ToolDeclaration = {
  name: 'look.up',
  description: 'Looks something up.',
  parameters: { type: 'object', properties: { of: { type: 'string' } } },
};

const families = ['google', 'openai', 'anthropic', 'openaiCompatible', 'ollama', 'mistral'];
const signature = fc.option(
  fc.constantFrom(...families).map((by) => {
    const notes = {
      google: { thoughtSignature: 'c2VhbGVk' },
      anthropic: { signature: 'c2VhbGVk' },
      openai: { itemId: 'rs_1', reasoningEncryptedContent: 'c2VhbGVk' },
    };
    const note = by in notes ? { [by]: notes[by as keyof typeof notes] } : undefined;
    return JSON.stringify({ by, ...(note !== undefined && { note }) });
  }),
  { nil: undefined },
);
const withSignature = <T extends object>(part: T, signature: string | undefined): T =>
  signature === undefined ? part : { ...part, thoughtSignature: signature };

const texts = fc.constantFrom('', ' ', '\n\n', 'Hm.', 'Grüße 🌍', 'half \ud83d');
const callId = fc.constantFrom('1', '2', '3', '4');
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const arbitraryPart: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(texts, signature).map(([text, by]) => withSignature({ text }, by)),
  fc
    .tuple(texts, signature)
    .map(([text, by]) => withSignature({ text, thought: true as const }, by)),
  fc
    .tuple(
      callId,
      fc.constantFrom('look.up', 'gone', 'a b/ü'),
      signature,
      fc.constantFrom('x', 'y'),
    )
    .map(([id, name, by, providerId]) =>
      withSignature({ functionCall: { id, name, args: { of: 'a' }, providerId } }, by),
    ),
  fc.tuple(callId, fc.boolean()).map(([id, isError]) => ({
    functionResponse: {
      id,
      name: 'look.up',
      response: { found: 1 },
      ...(isError && { isError: true as const }),
    },
  })),
  fc.constant({ inlineData: { mimeType: 'image/png', data: pixel } }),
  fc.constantFrom(...families).map((by) => ({
    opaque: { by, part: { type: 'source', id: 's', sourceType: 'url', url: 'https://a.example' } },
  })),
);

const history: fc.Arbitrary<Content[]> = fc.array(
  fc.record({
    role: fc.constantFrom('user' as const, 'model' as const, 'tool' as const),
    parts: fc.array(arbitraryPart, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
);

for (const format of wireFormats) {
  test(`${format.name} accepts the request for any history`, async () => {
    const { head, deltas, calls, tail } = format.stream({ text: 'Yes.' });
    const answer = [...head, ...deltas, ...calls, ...tail].join('');
    const model = await resolveModel(format.ref('http://127.0.0.1:1/v1'), {
      env: wireEnv(format, 'http://127.0.0.1:1/v1'),
      fetch: async (_place, init) => {
        assert.equal(format.complaint(asBody(JSON.parse(String(init?.body)))), undefined);
        return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    const check = async (contents: Content[]): Promise<void> => {
      const question: Content = { role: 'user', parts: [{ text: 'And?' }] };
      await ask(model, { contents: [...contents, question], tools: [lookup] });
    };
    await fc.assert(fc.asyncProperty(history, check), {
      numRuns: 50,
    });
  });
}
