import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Content } from '../../src/core/index.ts';
import { resolveModel } from '../../src/models/index.ts';
import type { ContextCacheConfig, Model, ToolDeclaration } from '../../src/models/index.ts';
import { ask } from './wire-model.ts';
import { geminiWire } from './wire/gemini-wire.ts';
import type { Body } from './wire/wire-format.ts';
import {
  openWireServer,
  WIRE_KEY,
  type ExtraHandler,
  type WireServer,
} from './wire/wire-server.ts';

const instruction = 'Answer from this law. '.repeat(50);
const tools: readonly ToolDeclaration[] = [
  { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
];

/**
 * The cached contents of a fake server: created, used, deleted, and rejected when they are gone.
 */
class CachedContentsServer {
  readonly created: Body[] = [];
  readonly deleted: string[] = [];
  refuses: 400 | 503 | undefined;
  readonly gone = new Set<string>();

  readonly aside: ExtraHandler = (method, path, body) => {
    if (method === 'DELETE') {
      this.deleted.push(path.replace('/v1/', ''));
      return { status: 200, body: {} };
    }
    if (path.endsWith('/cachedContents')) {
      this.created.push(body);
      const status = this.refuses;
      return status !== undefined
        ? { status, body: { error: { code: status, message: 'no', status: 'NO' } } }
        : { status: 200, body: { name: `cachedContents/c${this.created.length}` } };
    }
    if (!this.gone.has(String(body['cachedContent']))) return undefined;
    const error = { code: 403, message: 'CachedContent not found', status: 'PERMISSION_DENIED' };
    return { status: 403, body: { error } };
  };
}

interface CachingModel extends AsyncDisposable {
  readonly model: Model;
  readonly server: WireServer;
  readonly contents: CachedContentsServer;
  now: number;
}

async function openCachingModel(contextCache: ContextCacheConfig): Promise<CachingModel> {
  const contents = new CachedContentsServer();
  const server = await openWireServer(geminiWire, [{ text: 'Yes.' }], contents.aside);
  const opened = { now: 0 };
  const model = await resolveModel(geminiWire.ref(server.baseUrl), {
    apiKey: () => WIRE_KEY,
    contextCache,
    now: () => opened.now,
  });
  return Object.assign(opened, {
    model,
    server,
    contents,
    [Symbol.asyncDispose]: async () => server[Symbol.asyncDispose](),
  });
}

function listUsedCaches({ server }: CachingModel): readonly unknown[] {
  return server.requests.map(({ body }) => body['cachedContent']);
}

test('instruction and tools are cached once, and model calls refer to the cache', async () => {
  await using caching = await openCachingModel({});
  for (let i = 0; i < 3; i++) await ask(caching.model, { instruction, tools });
  const [created, ...more] = caching.contents.created;
  assert.deepEqual(more, []);
  assert.deepEqual(
    [created?.['model'], created?.['ttl']],
    ['models/gemini-3-flash-preview', '1800s'],
  );
  assert.match(
    JSON.stringify(created),
    /Answer from this law.*"look"|"look".*Answer from this law/,
  );
  assert.deepEqual(
    listUsedCaches(caching),
    Array.from({ length: 3 }, () => 'cachedContents/c1'),
  );
  assert.ok(caching.server.requests.every(({ body }) => body['systemInstruction'] === undefined));
});

test('after cacheIntervals invocations a new cache is created and the old one is deleted', async () => {
  await using caching = await openCachingModel({ cacheIntervals: 2 });
  for (let i = 0; i < 5; i++) await ask(caching.model, { instruction });
  assert.deepEqual(
    listUsedCaches(caching),
    [1, 1, 2, 2, 3].map((n) => `cachedContents/c${n}`),
  );
  assert.deepEqual(caching.contents.deleted, ['cachedContents/c1', 'cachedContents/c2']);
});

test('the model calls of one invocation count once and use the same cache', async () => {
  await using caching = await openCachingModel({ cacheIntervals: 1 });
  const question: Content = { role: 'user', parts: [{ text: 'Look.' }] };
  const call = { functionCall: { id: 'c1', name: 'look', args: {} } };
  const response = { functionResponse: { id: 'c1', name: 'look', response: { seen: 1 } } };
  const answered: readonly Content[] = [
    question,
    { role: 'model', parts: [{ ...call, thoughtSignature: 'c2VhbGVk' }] },
    { role: 'tool', parts: [response] },
  ];
  for (const contents of [[question], answered, [question]])
    await ask(caching.model, { instruction, tools, contents });
  assert.deepEqual(
    listUsedCaches(caching),
    [1, 1, 2].map((n) => `cachedContents/c${n}`),
  );
});

test('after ttlSeconds a new cache is created', async () => {
  await using caching = await openCachingModel({ ttlSeconds: 60 });
  await ask(caching.model, { instruction });
  caching.now = 59_999;
  await ask(caching.model, { instruction });
  caching.now = 60_000;
  await ask(caching.model, { instruction });
  assert.deepEqual(
    listUsedCaches(caching),
    [1, 1, 2].map((n) => `cachedContents/c${n}`),
  );
});

test('a different instruction gets its own cache', async () => {
  await using caching = await openCachingModel({});
  await ask(caching.model, { instruction });
  await ask(caching.model, { instruction: `${instruction}!` });
  await ask(caching.model, { instruction });
  assert.deepEqual(
    listUsedCaches(caching),
    [1, 2, 1].map((n) => `cachedContents/c${n}`),
  );
});

test('a request below minTokens is not cached', async () => {
  await using caching = await openCachingModel({ minTokens: 200 });
  await ask(caching.model, { instruction: 'Be brief.' });
  await ask(caching.model);
  await ask(caching.model, { instruction });
  assert.deepEqual(listUsedCaches(caching), [undefined, undefined, 'cachedContents/c1']);
});

test('a model call succeeds without a cache when the cache is rejected or deleted', async () => {
  await using rejecting = await openCachingModel({});
  rejecting.contents.refuses = 400;
  for (let i = 0; i < 2; i++) await ask(rejecting.model, { instruction });
  assert.deepEqual(listUsedCaches(rejecting), [undefined, undefined]);
  assert.equal(rejecting.contents.created.length, 1, 'the creation is not repeated');

  await using busy = await openCachingModel({});
  busy.contents.refuses = 503;
  await ask(busy.model, { instruction });
  busy.contents.refuses = undefined;
  await ask(busy.model, { instruction });
  assert.deepEqual(listUsedCaches(busy), [undefined, 'cachedContents/c2']);

  await using caching = await openCachingModel({});
  await ask(caching.model, { instruction });
  caching.contents.gone.add('cachedContents/c1');
  await ask(caching.model, { instruction });
  await ask(caching.model, { instruction });
  assert.deepEqual(listUsedCaches(caching), ['cachedContents/c1', undefined, 'cachedContents/c2']);
});

test('concurrent calls create one cache', async () => {
  await using caching = await openCachingModel({});
  await Promise.all([1, 2, 3].map(() => ask(caching.model, { instruction })));
  assert.equal(caching.contents.created.length, 1);
});

test('invalid options, and models of other providers, are rejected', async () => {
  const invalidConfigs: readonly (readonly [ContextCacheConfig, RegExp])[] = [
    [{ cacheIntervals: 0 }, /cacheIntervals/],
    [{ cacheIntervals: 101 }, /cacheIntervals/],
    [{ ttlSeconds: 0 }, /ttlSeconds/],
    [{ minTokens: -1 }, /minTokens/],
  ];
  for (const [config, message] of invalidConfigs) {
    const resolving = resolveModel('gemini-x', { apiKey: () => WIRE_KEY, contextCache: config });
    await assert.rejects(resolving, { code: 'invalid_input', message });
  }
  const otherProvider = resolveModel('claude-x', { apiKey: () => WIRE_KEY, contextCache: {} });
  await assert.rejects(otherProvider, { code: 'model_unsupported', feature: 'contextCache' });
});
