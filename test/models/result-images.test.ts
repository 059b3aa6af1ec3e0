import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAI } from 'ai-sdk-openai-v3';
import type { Content, JsonObject } from '../../src/core/index.ts';
import { aiSdkModel } from '../../src/models/index.ts';
import { ask, openWireModel } from './wire-model.ts';
import { openaiResponsesWire } from './wire/openai-responses-wire.ts';
import { wireFormats } from './wire/wire-formats.ts';
import { openWireServer, WIRE_KEY } from './wire/wire-server.ts';

// The smallest valid GIF.
const data = 'R0lGODlhAQABAAAAACwAAAAAAQABAAA=';
const sound = 'UklGRiQAAABXQVZF';
const tools = [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }] as const;

/** A conversation in which a tool returned this response. */
const withToolResponse = (response: JsonObject): readonly Content[] => [
  { role: 'user', parts: [{ text: 'What is there?' }] },
  { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
  { role: 'tool', parts: [{ functionResponse: { id: 'c1', name: 'look', response } }] },
];

const mediaResponse = {
  content: [
    { text: 'A dot.' },
    { inlineData: { mimeType: 'image/gif', data } },
    { inlineData: { mimeType: 'audio/wav', data: sound } },
  ],
};

const supporting = ['gemini', 'openai responses', 'anthropic'];

for (const format of wireFormats) {
  const what = supporting.includes(format.name) ? 'receives' : 'receives only a description of';
  test(`${format.name} ${what} an image in a tool result`, async () => {
    await using wire = await openWireModel(format, [{ text: 'A dot.' }]);
    await ask(wire.model, { tools, contents: withToolResponse(mediaResponse) });
    const body = JSON.stringify(wire.server.requests[0]?.body);
    assert.equal(body.split(data).length - 1, supporting.includes(format.name) ? 1 : 0);
    assert.ok(!body.includes(sound), 'media is never sent as text');
    assert.match(body, /A dot\./);
    assert.match(body, /audio\/wav.{1,40}sizeBytes.{1,12}12.{1,20}you cannot be shown this/);
  });
}

test('a provider package of version 3 receives the image too', async () => {
  await using server = await openWireServer(openaiResponsesWire, [{ text: 'A dot.' }]);
  const openai = createOpenAI({ baseURL: server.baseUrl, apiKey: WIRE_KEY });
  await ask(aiSdkModel(openai.responses('gpt-5-mini')), {
    tools,
    contents: withToolResponse(mediaResponse),
  });
  assert.match(
    JSON.stringify(server.requests[0]?.body),
    /"image_url":"data:image\/gif;base64,R0lGOD/,
  );
});

test('a result without media is sent unchanged', async () => {
  for (const format of wireFormats) {
    await using wire = await openWireModel(format, [{ text: 'Nothing.' }]);
    const plain = { content: [{ text: 'nothing' }], inlineData: { mimeType: 'x', data: 'AAAA' } };
    await ask(wire.model, { tools, contents: withToolResponse(plain) });
    assert.match(JSON.stringify(wire.server.requests[0]?.body), /AAAA/);
  }
});
