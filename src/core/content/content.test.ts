import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { content } from './content-builder.ts';
import { parseContent } from './parse-content.ts';
import { contentText, contentThinking, userContent, type Content, type Part } from './content.ts';
import { getFunctionCalls, getFunctionResponses } from './function-calls.ts';
import { decodeInlineData } from './encode-inline-data.ts';
import { decodedSize, InlineDataTooLargeError, MAX_INLINE_DATA_SIZE } from './inline-data.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { Json } from '../json/json.ts';

const everyPart: readonly Part[] = [
  { text: 'Let me see.', thought: true, thoughtSignature: 'sealed' },
  { text: '' },
  { inlineData: { mimeType: 'image/png', data: 'iVBORw==', displayName: 'a.png' } },
  { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/image.jpg' } },
  {
    functionCall: { id: 'c1', name: 'f', args: { a: [1, null] }, providerId: 'toolu_1' },
    thoughtSignature: 's',
  },
  { functionCall: { id: 'c2', name: 'f', args: {}, argsError: { message: 'no', raw: '{"a' } } },
  { functionResponse: { id: 'c1', name: 'f', response: { result: 5 }, isError: true } },
  { opaque: { type: 'hologram', data: 'x' } },
];

test('a message with a part of every kind is read as it was written', () => {
  const message: Content = { role: 'model', parts: everyPart };
  assert.deepEqual(parseContent(message), message);
});

test('a message is JSON by its type', () => {
  const json: Json = userContent('Hello');
  assert.deepEqual(json, { role: 'user', parts: [{ text: 'Hello' }] });
});

test('a message without a role is a user message', () => {
  assert.deepEqual(parseContent({ parts: [{ text: 'Hi' }] }), userContent('Hi'));
});

test("an unknown field is rejected by name in a client's message, and dropped in a model's message", () => {
  const value = { parts: [{ text: 'Hi', colour: 'red' }] };
  assert.throws(() => parseContent(value), { field: 'content.parts[0].colour' });
  assert.deepEqual(parseContent(value, { unknownParts: 'keep' }), userContent('Hi'));
});

const refused: readonly (readonly [name: string, value: unknown, field: string])[] = [
  ['nothing', undefined, 'content'],
  ['text alone', 'Hi', 'content'],
  ['an unknown role', { role: 'boss', parts: [{ text: 'Hi' }] }, 'content.role'],
  ['no parts', { parts: [] }, 'content.parts'],
  ['a part of no kind', { parts: [{ text: 'a' }, { txet: 'b' }] }, 'content.parts[1]'],
  ['a part of two kinds', { parts: [{ text: 'a', opaque: 1 }] }, 'content.parts[0]'],
  ['a part that is null', { parts: [null] }, 'content.parts[0]'],
  ['text that is a number', { parts: [{ text: 5 }] }, 'content.parts[0].text'],
  [
    'arguments that are a list',
    { parts: [{ functionCall: { id: 'c', name: 'f', args: [] } }] },
    'content.parts[0].functionCall.args',
  ],
  [
    'a call without an id',
    { parts: [{ functionCall: { id: '', name: 'f', args: {} } }] },
    'content.parts[0].functionCall.id',
  ],
  [
    'bytes that are not base64',
    { parts: [{ inlineData: { mimeType: 'image/png', data: 'a_b-' } }] },
    'content.parts[0].inlineData.data',
  ],
  [
    'base64 without padding',
    { parts: [{ inlineData: { mimeType: 'image/png', data: 'YQ' } }] },
    'content.parts[0].inlineData.data',
  ],
];

for (const [name, value, field] of refused) {
  test(`a message with ${name} is rejected, and the error names the path`, () => {
    assert.throws(
      () => parseContent(value),
      (error) => {
        assert.ok(error instanceof InvalidInputError);
        assert.equal(error.field, field);
        return true;
      },
    );
  });
}

test('an unknown part is kept if it comes from a model', () => {
  const block = { executableCode: { language: 'PYTHON', code: '1+1' } };
  assert.deepEqual(parseContent({ role: 'model', parts: [block] }, { unknownParts: 'keep' }), {
    role: 'model',
    parts: [{ opaque: block }],
  });
});

test('inline data of exactly 10 MiB is accepted, and one byte more is rejected, in a builder and in parsed input', () => {
  const most = new Uint8Array(MAX_INLINE_DATA_SIZE);
  const message = content('user').inlineData('application/octet-stream', most).build();
  assert.deepEqual(parseContent(message), message);
  const tooMany = new Uint8Array(MAX_INLINE_DATA_SIZE + 1);
  assert.throws(() => content('user').inlineData('image/png', tooMany), InlineDataTooLargeError);
  const data = Buffer.from(tooMany).toString('base64');
  assert.throws(
    () => parseContent({ parts: [{ inlineData: { mimeType: 'image/png', data } }] }),
    (error) =>
      error instanceof InlineDataTooLargeError && error.sizeBytes === MAX_INLINE_DATA_SIZE + 1,
  );
});

test('the size of base64 data is computed without decoding it', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const [part] = content('user').inlineData('image/png', bytes).build().parts;
      assert.ok(part !== undefined && 'inlineData' in part);
      assert.equal(decodedSize(part.inlineData.data), bytes.length);
      assert.deepEqual(decodeInlineData(part.inlineData), new Uint8Array(bytes));
    }),
  );
});

test('a message is built part by part, and a builder can be used twice', () => {
  const start = content('user').text('What is this?');
  const picture = start.inlineData('image/png', new Uint8Array([1]), 'a.png').build();
  const link = start.fileData('image/jpeg', 'https://example.com/a.jpg').build();
  assert.deepEqual(picture.parts, [
    { text: 'What is this?' },
    { inlineData: { mimeType: 'image/png', data: 'AQ==', displayName: 'a.png' } },
  ]);
  assert.deepEqual(link.parts[1], {
    fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/a.jpg' },
  });
  assert.throws(() => content('user').build(), InvalidInputError);
});

test('the text of a message excludes thinking parts', () => {
  const message: Content = {
    role: 'model',
    parts: [{ text: 'Hm. ', thought: true }, { text: 'He' }, { opaque: 1 }, { text: 'llo' }],
  };
  assert.equal(contentText(message), 'Hello');
  assert.equal(contentThinking(message), 'Hm. ');
  assert.equal(contentText(undefined), '');
});

test('calls and results are found in a message and in an object that contains a message', () => {
  const message: Content = { role: 'model', parts: everyPart };
  assert.deepEqual(
    getFunctionCalls(message).map((call) => call.id),
    ['c1', 'c2'],
  );
  assert.deepEqual(getFunctionCalls({ content: message }), getFunctionCalls(message));
  assert.deepEqual(
    getFunctionResponses(message).map((response) => response.response),
    [{ result: 5 }],
  );
  assert.deepEqual(getFunctionCalls({}), []);
});
