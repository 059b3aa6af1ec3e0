import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { InvalidInputError } from '../core/index.ts';
import { ModelError } from './model/model-error.ts';
import { parseModelRef } from './reference/model-ref.ts';
import type { Model } from './model/model.ts';
import { resolveModel } from './resolve-model.ts';

const KEY = 'sk-test-abcdefghijkl';

test('a model name determines its provider, in upper or lower case', () => {
  const providers = {
    gemini: ['gemini-2.5-flash', 'Gemini-3-pro'],
    openai: ['gpt-5', 'o1-pro', 'o3', 'o4-mini', 'chatgpt-4o-latest'],
    anthropic: ['claude-sonnet-4-5'],
    ollama: ['llama3.2', 'mistral', 'deepseek-r1', 'qwen3:8b', 'gemma3', 'phi4'],
  };
  for (const [provider, names] of Object.entries(providers)) {
    for (const model of names) assert.deepEqual(parseModelRef(model), { provider, model });
  }
});

test('an unknown name is rejected with the list of known names', () => {
  assert.throws(() => parseModelRef('grok-4'), {
    code: 'unknown_model',
    message: /"grok-4".*gemini.*gpt.*claude.*llama.*openai_compatible/,
  });
});

test('a model reference is read in camel case, snake case and with nested fields', () => {
  const reference = {
    provider: 'openai_compatible',
    model: 'any',
    baseUrl: 'http://127.0.0.1:8000/v1',
    apiKey: KEY,
    speed: 'fast',
  };
  assert.deepEqual(parseModelRef(reference), reference);
  assert.deepEqual(
    parseModelRef({
      provider: 'openai-compatible',
      model: { model: 'any', base_url: 'http://127.0.0.1:8000/v1/', api_key: KEY },
      speed: 'fast',
    }),
    reference,
  );
  assert.deepEqual(parseModelRef({ provider: 'openai', model: { model: 'gpt-5' }, api: 'chat' }), {
    provider: 'openai',
    model: 'gpt-5',
    api: 'chat',
  });
});

test('an invalid model reference is rejected with the name of the field, and without its value', () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [7, /^model:/],
    [{}, /^model\.provider: must be one of gemini, openai, anthropic, ollama, openai_compatible/],
    [{ provider: 'grok', model: 'x' }, /^model\.provider:/],
    [{ provider: 'openai' }, /^model\.model:/],
    [{ provider: 'openai', model: 'x', apiKey: '' }, /^model\.apiKey:/],
    [{ provider: 'openai', model: 'x', baseUrl: 'nowhere' }, /^model\.baseUrl:/],
    [{ provider: 'openai', model: 'x', baseUrl: 'ftp://x' }, /^model\.baseUrl:/],
    [{ provider: 'openai', model: 'x', speed: 'warp' }, /^model\.speed:/],
    [{ provider: 'gemini', model: 'x', api: 'chat' }, /^model\.api:/],
  ];
  for (const [ref, message] of wrong) {
    assert.throws(() => parseModelRef(ref), { code: 'invalid_input', message });
  }
});

test('the error for a missing key names the variables to set', async () => {
  await assert.rejects(resolveModel('gemini-2.5-flash'), {
    code: 'missing_key',
    message: /GEMINI_API_KEY/,
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  });
  await assert.rejects(resolveModel('claude-x', { env: { ANTHROPIC_API_KEY: '' } }), {
    message: /ANTHROPIC_API_KEY/,
  });
  await assert.rejects(resolveModel('gpt-5', { env: {} }), { message: /OPENAI_API_KEY/ });
  await resolveModel('llama3.2');
});

test('the error for a server without a base URL says where to set it', async () => {
  const ref = { provider: 'openai_compatible', model: 'any' } as const;
  await assert.rejects(resolveModel(ref), { code: 'missing_base_url', message: /baseUrl/ });
  await resolveModel(ref, { env: { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:1/v1' } });
});

test('the error for a missing package has the install command', async () => {
  const packages = {
    'gemini-x': '@ai-sdk/google',
    'gpt-x': '@ai-sdk/openai',
    'claude-x': '@ai-sdk/anthropic',
    'llama-x': '@ai-sdk/openai-compatible',
  };
  for (const [model, packageName] of Object.entries(packages)) {
    const hooks = registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier !== packageName) return next(specifier, context);
        const error = new Error(`Cannot find package '${specifier}'`);
        throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
      },
    });
    try {
      await assert.rejects(resolveModel(model, { apiKey: () => KEY }), {
        code: 'missing_package',
        packageName,
        message: `Model "${model}" needs the package ${packageName}: run "npm install ${packageName}".`,
      });
    } finally {
      hooks.deregister();
    }
  }
});

test('a speed that the provider does not support is rejected when the model is created', async () => {
  const ref = { provider: 'ollama', model: 'qwen3', speed: 'fast' } as const;
  await assert.rejects(resolveModel(ref), { code: 'model_unsupported', feature: 'speed' });
  await resolveModel({ ...ref, speed: 'balanced' });
});

test('a model does not reveal its key when it is inspected or serialized', async () => {
  const ref = { provider: 'openai', model: 'gpt-5', apiKey: KEY } as const;
  const model = await resolveModel(ref);
  for (const output of [inspect(model, { depth: 20, showHidden: true }), JSON.stringify(model)]) {
    assert.doesNotMatch(output, /sk-test/);
  }
  assert.equal(model.name, 'openai/gpt-5');
});

test('no error reveals a key, not even one that the server echoes', async () => {
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    const echo = JSON.stringify({
      error: { message: `You sent ${JSON.stringify(init?.headers)}` },
    });
    return new Response(echo, { status: 401, headers: { 'x-echo': KEY } });
  };
  for (const name of ['gemini-x', 'gpt-x', 'claude-x', 'llama-x']) {
    const error = await catchFailure(await resolveModel(name, { fetch, apiKey: () => KEY }));
    assert.equal(error.kind, 'auth');
    assert.match(error.message, /You sent/);
    const output = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error);
    assert.doesNotMatch(output, /sk-test/, name);
  }
});

test('a trailing newline in a key is removed', async () => {
  const fetch: typeof globalThis.fetch = async () =>
    new Response(JSON.stringify({ error: { message: `Wrong key ${KEY}` } }), { status: 401 });
  const error = await catchFailure(
    await resolveModel('gpt-x', { fetch, apiKey: () => `${KEY}\n` }),
  );
  assert.match(error.message, /Wrong key \[redacted\]/);
});

test('a URL with a password is rejected, and the error does not contain it', async () => {
  const baseUrl = 'http://user:swordfish@127.0.0.1:9/v1';
  await assert.rejects(
    resolveModel({ provider: 'openai_compatible', model: 'x', baseUrl }),
    (error) => {
      assert.doesNotMatch(inspect(error), /swordfish/);
      return error instanceof InvalidInputError && /baseUrl.*apiKey/.test(error.message);
    },
  );
});

test('a key function is called before each request, and the key can change', async () => {
  const seen: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    seen.push(new Headers(init?.headers).get('x-goog-api-key'));
    return new Response('{}', { status: 500 });
  };
  const keys = ['first-key', 'second-key'];
  const model = await resolveModel('gemini-x', { fetch, apiKey: async () => keys.shift() });
  await catchFailure(model);
  await catchFailure(model);
  assert.deepEqual(seen, ['first-key', 'second-key']);
  const error = await catchFailure(model);
  assert.deepEqual([error.kind, seen.length], ['auth', 2]);
  assert.match(error.message, /GEMINI_API_KEY/);
});

test('variables of the process are not read when an environment is passed', async () => {
  const seen: string[] = [];
  const fetch: typeof globalThis.fetch = async (url) => {
    seen.push(url instanceof Request ? url.url : url.toString());
    return new Response('{}', { status: 500 });
  };
  const names = ['OPENAI_BASE_URL', 'ANTHROPIC_BASE_URL'];
  const before = names.map((name) => [name, process.env[name]] as const);
  try {
    for (const name of names) process.env[name] = 'http://127.0.0.1:9/elsewhere';
    for (const name of ['gpt-x', 'claude-x']) {
      await catchFailure(await resolveModel(name, { fetch, apiKey: () => KEY }));
    }
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  assert.deepEqual(seen, [
    'https://api.openai.com/v1/responses',
    'https://api.anthropic.com/v1/messages',
  ]);
});

async function catchFailure(model: Model): Promise<ModelError> {
  try {
    await model.generate(
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], tools: [] },
      { signal: new AbortController().signal, onDelta: () => undefined, firingId: 'f', attempt: 1 },
    );
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
  throw new Error('It answered.');
}

test('an abort ends a request that waits for its key', async () => {
  const stop = new AbortController();
  const waitForKey = (): Promise<string> => {
    setImmediate(() => stop.abort());
    return new Promise(() => undefined);
  };
  const model = await resolveModel('gpt-x', { apiKey: waitForKey });
  const failing = model.generate(
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], tools: [] },
    { signal: stop.signal, onDelta: () => undefined, firingId: 'f', attempt: 1 },
  );
  await assert.rejects(failing, { kind: 'aborted' });
});

test('a list of origins that is wrong is refused, also when the reference has no base URL', async () => {
  const options = { env: { OPENAI_API_KEY: KEY }, modelOrigins: ['no origin'] };
  await assert.rejects(
    resolveModel('gpt-5', options),
    (error) => error instanceof InvalidInputError && error.field.startsWith('modelOrigins'),
  );
});
