import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failedToolResponse } from '../../tool/tool-response.ts';
import { callResponse } from './call-response.ts';
import { promptContent } from './prompt-content.ts';

const text = { type: 'text', text: 'hello' } as const;
const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' } as const;

test('text is the response, and several texts are joined by line breaks', () => {
  assert.equal(callResponse({ content: [text] }), 'hello');
  assert.equal(callResponse({ content: [text, text] }), 'hello\nhello');
  assert.equal(callResponse({ content: [] }), '');
});

test('structured content is the response, and text that repeats it is dropped', () => {
  const structuredContent = { a: 1 };
  assert.deepEqual(callResponse({ content: [text], structuredContent }), { a: 1 });
  assert.deepEqual(callResponse({ content: [text, image], structuredContent }), {
    content: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
    structuredContent: { a: 1 },
  });
});

test('data and URLs become parts, in their order', () => {
  const response = callResponse({
    content: [
      text,
      { type: 'audio', mimeType: 'audio/wav', data: 'BBBB' },
      { type: 'resource_link', uri: 'file:///a.txt', name: 'a', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'file:///b', text: 'inside' } },
      { type: 'resource', resource: { uri: 'file:///c', blob: 'CCCC' } },
    ],
  });
  assert.deepEqual(response, {
    content: [
      { text: 'hello' },
      { inlineData: { mimeType: 'audio/wav', data: 'BBBB' } },
      { fileData: { mimeType: 'text/plain', fileUri: 'file:///a.txt', displayName: 'a' } },
      { text: 'inside' },
      {
        inlineData: {
          mimeType: 'application/octet-stream',
          data: 'CCCC',
          displayName: 'file:///c',
        },
      },
    ],
  });
});

test('a tool result with isError throws an error with its text', () => {
  assert.throws(() => callResponse({ content: [text], isError: true }), {
    code: 'tool_failed',
    message: 'hello',
  });
  assert.throws(() => callResponse({ content: [], isError: true }), /The tool failed/);
});

test('a prompt becomes messages of the user and the model', () => {
  assert.deepEqual(promptContent({ role: 'assistant', content: text }), {
    role: 'model',
    parts: [{ text: 'hello' }],
  });
  assert.deepEqual(promptContent({ role: 'user', content: image }), {
    role: 'user',
    parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
  });
});

test('an error keeps the images and the structured content of the result', () => {
  const structuredContent = { retryAfter: 5 };
  assert.throws(
    () => callResponse({ content: [text, image], structuredContent, isError: true }),
    (error) => {
      assert.deepEqual(failedToolResponse(error), {
        outcome: 'error',
        response: {
          content: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
          structuredContent: { retryAfter: 5 },
          error: { code: 'tool_failed', message: 'hello' },
        },
      });
      return true;
    },
  );
});
