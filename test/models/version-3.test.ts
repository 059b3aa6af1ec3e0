import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAI } from 'ai-sdk-openai-v3';
import { aiSdkModel } from '../../src/models/index.ts';
import { modelContract } from '../../src/testing/index.ts';
import { openaiResponsesWire } from './wire/openai-responses-wire.ts';
import { openWireServer, WIRE_KEY } from './wire/wire-server.ts';

// Provider packages of the previous specification version work with the same bridge.
for (const { name, check } of modelContract) {
  test(`a provider package of version 3: ${name}`, () =>
    check(async (turns) => {
      const server = await openWireServer(openaiResponsesWire, turns);
      const openai = createOpenAI({ baseURL: server.baseUrl, apiKey: WIRE_KEY });
      const model = openai.responses('gpt-5-mini');
      assert.equal(model.specificationVersion, 'v3');
      return {
        model: aiSdkModel(model),
        requestCount: () => server.requests.length,
        close: async () => server[Symbol.asyncDispose](),
      };
    }));
}
