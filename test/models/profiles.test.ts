import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAI as createOpenAIv3 } from 'ai-sdk-openai-v3';
import type { Content } from '../../src/core/index.ts';
import { aiSdkModel } from '../../src/models/index.ts';
import type { GenerationConfig, LanguageModel } from '../../src/models/index.ts';
import { ask } from './wire-model.ts';

type Body = Readonly<Record<string, unknown>>;

interface Service {
  readonly fetch: typeof globalThis.fetch;
  readonly bodies: readonly Body[];
}

/**
 * A service with the responses API. Like the real one, it encrypts thinking only if the request
 * asks for it.
 */
function responsesService(rejectsEncryption = false): Service {
  const bodies: Body[] = [];
  return {
    bodies,
    fetch: async (_url, init) => {
      const body = JSON.parse(String(init?.body)) as Body;
      bodies.push(body);
      const include = Array.isArray(body['include']) ? (body['include'] as unknown[]) : [];
      const isEncrypted = include.includes('reasoning.encrypted_content');
      if (isEncrypted && rejectsEncryption) {
        const message = 'Encrypted content is not supported with this model.';
        return Response.json(
          { error: { message, type: 'invalid_request_error' } },
          { status: 400 },
        );
      }
      const encrypted = isEncrypted ? `sealed-${bodies.length}` : null;
      const reasoning = {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        encrypted_content: encrypted,
      };
      const text = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
      const frames = [
        {
          type: 'response.created',
          response: { id: 'r', created_at: 1, model: 'm', service_tier: null },
        },
        { type: 'response.output_item.added', output_index: 0, item: reasoning },
        { type: 'response.output_item.done', output_index: 0, item: reasoning },
        { type: 'response.output_item.added', output_index: 1, item: text },
        { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Yes.' },
        { type: 'response.output_item.done', output_index: 1, item: text },
        {
          type: 'response.completed',
          response: { usage: { input_tokens: 1, output_tokens: 1 }, service_tier: null },
        },
      ];
      return new Response(frames.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''), {
        headers: { 'content-type': 'text/event-stream' },
      });
    },
  };
}

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });

const packages: Readonly<Record<string, (service: Service, id: string) => LanguageModel>> = {
  openai: ({ fetch }, id) => createOpenAI({ apiKey: 'k', fetch }).responses(id),
  azure: ({ fetch }, id) => createOpenAI({ apiKey: 'k', fetch, name: 'azure' }).responses(id),
  'azure-openai': ({ fetch }, id) =>
    createOpenAI({ apiKey: 'k', fetch, name: 'azure-openai' }).responses(id),
  'a proxy': ({ fetch }, id) =>
    createOpenAI({ apiKey: 'k', fetch, name: 'my-proxy' }).responses(id),
  'a package of version 3': ({ fetch }, id) =>
    createOpenAIv3({ apiKey: 'k', fetch, name: 'azure' }).responses(id),
};

for (const [name, make] of Object.entries(packages)) {
  test(`a model of the responses API uses store: false and sends encrypted thinking back: ${name}`, async () => {
    for (const id of ['gpt-5', 'my-deployment', 'ft:o4-mini:acme', 'acme-reasoner-2']) {
      const service = responsesService();
      const model = aiSdkModel(make(service, id));
      const firstAnswer = await ask(model, { contents: [user('One?')] });
      await ask(model, { contents: [user('One?'), firstAnswer.content, user('Two?')] });
      const [first, second] = service.bodies;
      assert.deepEqual([first?.['store'], second?.['store']], [false, false], id);
      assert.deepEqual(first?.['include'], ['reasoning.encrypted_content'], id);
      assert.match(JSON.stringify(second?.['input']), /"encrypted_content":"sealed-1"/, id);
    }
  });
}

test('a service that rejects encrypted thinking is called once more without it, and without it from then on', async () => {
  const service = responsesService(true);
  const azure = packages['azure'];
  assert.ok(azure);
  const model = aiSdkModel(azure(service, 'my-deployment'));
  await ask(model);
  await ask(model);
  assert.deepEqual(
    service.bodies.map(({ include }) => include !== undefined),
    [true, false, false],
  );
});

test('thinking.effort is sent to a model with an unknown id', async () => {
  for (const make of Object.values(packages)) {
    const service = responsesService();
    const config: GenerationConfig = { thinking: { effort: 'high' } };
    await ask(aiSdkModel(make(service, 'my-deployment')), { config });
    assert.match(JSON.stringify(service.bodies[0]?.['reasoning']), /"effort":"high"/);
  }
});

test('thinking.effort is rejected for a model without thinking, or dropped with a warning', async () => {
  for (const id of ['gpt-4o', 'gpt-4.1-mini', 'ft:gpt-4o:acme', 'gpt-5-chat-latest']) {
    const service = responsesService();
    const { fetch } = service;
    const model = aiSdkModel(createOpenAI({ apiKey: 'k', fetch }).responses(id));
    const config: GenerationConfig = { thinking: { effort: 'high' } };
    await assert.rejects(ask(model, { config }), { feature: 'thinking.effort' }, id);
    assert.equal(service.bodies.length, 0);
    const withWarning = await ask(model, { config: { ...config, onUnsupported: 'warn' } });
    assert.match(withWarning.providerMetadata?.['warnings'] ?? '', /thinking\.effort/);
    await ask(model, { config: { thinking: { effort: 'none' } } });
    for (const { reasoning, include } of service.bodies)
      assert.deepEqual([reasoning, include], [undefined, undefined], id);
  }
});

test('provider options under an unknown name are rejected, or dropped with a warning', async () => {
  const service = responsesService();
  const { fetch } = service;
  const model = aiSdkModel(createOpenAI({ apiKey: 'k', fetch }).responses('gpt-5'));
  const userOption = { user: 'ada' };
  for (const unknownName of ['opnai', 'openai_compatible', 'gemini', 'OpenAI']) {
    const config: GenerationConfig = { providerOptions: { [unknownName]: userOption } };
    await assert.rejects(ask(model, { config }), {
      code: 'model_unsupported',
      feature: `providerOptions.${unknownName}`,
      message: /this model reads openai/,
    });
    const { providerMetadata } = await ask(model, { config: { ...config, onUnsupported: 'warn' } });
    assert.match(
      providerMetadata?.['warnings'] ?? '',
      new RegExp(`providerOptions\\.${unknownName}`),
    );
  }
  // Options for another provider, for example for a fallback model, give a warning.
  const config: GenerationConfig = { providerOptions: { anthropic: {}, openai: userOption } };
  const { providerMetadata } = await ask(model, { config });
  assert.match(providerMetadata?.['warnings'] ?? '', /providerOptions\.anthropic/);
  assert.equal(service.bodies.at(-1)?.['user'], 'ada');
});

test('provider options for Azure are read under "openai" and "azure", and are merged with the defaults', async () => {
  for (const providerOptions of [
    { openai: { user: 'ada' } },
    { azure: { user: 'ada' } },
    { openai: { user: 'bob' }, azure: { user: 'ada' } },
  ]) {
    const service = responsesService();
    const { fetch } = service;
    const azure = createOpenAI({ apiKey: 'k', fetch, name: 'azure' }).responses('gpt-5');
    await ask(aiSdkModel(azure), { config: { providerOptions } });
    const [body] = service.bodies;
    assert.deepEqual([body?.['user'], body?.['store']], ['ada', false]);
  }
});

test('the Anthropic format is recognized under other provider names', async () => {
  let body: Body = {};
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    body = JSON.parse(String(init?.body)) as Body;
    return new Response(null, { status: 500 });
  };
  for (const name of ['vertex.anthropic.messages', 'bedrock.anthropic.messages', 'my.messages']) {
    const model = aiSdkModel(createAnthropic({ apiKey: 'k', fetch, name })('claude-sonnet-4-5'));
    const config: GenerationConfig = {
      thinking: { budgetTokens: 2000 },
      cache: { prefix: 'instruction' },
    };
    await assert.rejects(ask(model, { instruction: 'Be brief.', config }));
    assert.match(JSON.stringify(body['thinking']), /2000/, name);
    assert.match(JSON.stringify(body['system']), /cache_control/, name);
  }
});
