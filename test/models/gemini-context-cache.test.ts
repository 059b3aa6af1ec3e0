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

/** The cached contents of a server: made, used, deleted, and refused when they are gone. */
class CachedContents {
  readonly made: Body[] = [];
  readonly deleted: string[] = [];
  refuses: 400 | 503 | undefined;
  readonly gone = new Set<string>();

  readonly aside: ExtraHandler = (method, path, body) => {
    if (method === 'DELETE') {
      this.deleted.push(path.replace('/v1/', ''));
      return { status: 200, body: {} };
    }
    if (path.endsWith('/cachedContents')) {
      this.made.push(body);
      const status = this.refuses;
      return status !== undefined
        ? { status, body: { error: { code: status, message: 'no', status: 'NO' } } }
        : { status: 200, body: { name: `cachedContents/c${this.made.length}` } };
    }
    if (!this.gone.has(String(body['cachedContent']))) return undefined;
    const error = { code: 403, message: 'CachedContent not found', status: 'PERMISSION_DENIED' };
    return { status: 403, body: { error } };
  };
}

interface CachingModel extends AsyncDisposable {
  readonly model: Model;
  readonly server: WireServer;
  readonly contents: CachedContents;
  now: number;
}

async function openCachingModel(contextCache: ContextCacheConfig): Promise<CachingModel> {
  const contents = new CachedContents();
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

function usedIn({ server }: CachingModel): readonly unknown[] {
  return server.requests.map(({ body }) => body['cachedContent']);
}

test('instruction and tools are kept once, and calls refer to them', async () => {
  await using caching = await openCachingModel({});
  for (let i = 0; i < 3; i++) await ask(caching.model, { instruction, tools });
  const [made, ...more] = caching.contents.made;
  assert.deepEqual(more, []);
  assert.deepEqual([made?.['model'], made?.['ttl']], ['models/gemini-3-flash-preview', '1800s']);
  assert.match(JSON.stringify(made), /Answer from this law.*"look"|"look".*Answer from this law/);
  assert.deepEqual(
    usedIn(caching),
    Array.from({ length: 3 }, () => 'cachedContents/c1'),
  );
  assert.ok(caching.server.requests.every(({ body }) => body['systemInstruction'] === undefined));
});

test('after so many invocations it is made anew, and the old one is deleted', async () => {
  await using caching = await openCachingModel({ cacheIntervals: 2 });
  for (let i = 0; i < 5; i++) await ask(caching.model, { instruction });
  assert.deepEqual(
    usedIn(caching),
    [1, 1, 2, 2, 3].map((n) => `cachedContents/c${n}`),
  );
  assert.deepEqual(caching.contents.deleted, ['cachedContents/c1', 'cachedContents/c2']);
});

test('the calls of one invocation count once, and end with the cache they began with', async () => {
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
    usedIn(caching),
    [1, 1, 2].map((n) => `cachedContents/c${n}`),
  );
});

test('when its time is over it is made anew', async () => {
  await using caching = await openCachingModel({ ttlSeconds: 60 });
  await ask(caching.model, { instruction });
  caching.now = 59_999;
  await ask(caching.model, { instruction });
  caching.now = 60_000;
  await ask(caching.model, { instruction });
  assert.deepEqual(
    usedIn(caching),
    [1, 1, 2].map((n) => `cachedContents/c${n}`),
  );
});

test('another instruction is another cache', async () => {
  await using caching = await openCachingModel({});
  await ask(caching.model, { instruction });
  await ask(caching.model, { instruction: `${instruction}!` });
  await ask(caching.model, { instruction });
  assert.deepEqual(
    usedIn(caching),
    [1, 2, 1].map((n) => `cachedContents/c${n}`),
  );
});

test('what is too short is not kept', async () => {
  await using caching = await openCachingModel({ minTokens: 200 });
  await ask(caching.model, { instruction: 'Be brief.' });
  await ask(caching.model);
  await ask(caching.model, { instruction });
  assert.deepEqual(usedIn(caching), [undefined, undefined, 'cachedContents/c1']);
});

test('a cache that is refused, or gone, does not cost the answer', async () => {
  await using refused = await openCachingModel({});
  refused.contents.refuses = 400;
  for (let i = 0; i < 2; i++) await ask(refused.model, { instruction });
  assert.deepEqual(usedIn(refused), [undefined, undefined]);
  assert.equal(refused.contents.made.length, 1, 'it is not asked for again');

  await using busy = await openCachingModel({});
  busy.contents.refuses = 503;
  await ask(busy.model, { instruction });
  busy.contents.refuses = undefined;
  await ask(busy.model, { instruction });
  assert.deepEqual(usedIn(busy), [undefined, 'cachedContents/c2']);

  await using caching = await openCachingModel({});
  await ask(caching.model, { instruction });
  caching.contents.gone.add('cachedContents/c1');
  await ask(caching.model, { instruction });
  await ask(caching.model, { instruction });
  assert.deepEqual(usedIn(caching), ['cachedContents/c1', undefined, 'cachedContents/c2']);
});

test('calls at the same time make one cache', async () => {
  await using caching = await openCachingModel({});
  await Promise.all([1, 2, 3].map(() => ask(caching.model, { instruction })));
  assert.equal(caching.contents.made.length, 1);
});

test('what is out of range, or of another provider, is refused at once', async () => {
  const wrong: readonly (readonly [ContextCacheConfig, RegExp])[] = [
    [{ cacheIntervals: 0 }, /cacheIntervals/],
    [{ cacheIntervals: 101 }, /cacheIntervals/],
    [{ ttlSeconds: 0 }, /ttlSeconds/],
    [{ minTokens: -1 }, /minTokens/],
  ];
  for (const [config, message] of wrong) {
    const resolving = resolveModel('gemini-x', { apiKey: () => WIRE_KEY, contextCache: config });
    await assert.rejects(resolving, { code: 'invalid_input', message });
  }
  const elsewhere = resolveModel('claude-x', { apiKey: () => WIRE_KEY, contextCache: {} });
  await assert.rejects(elsewhere, { code: 'model_unsupported', feature: 'contextCache' });
});
