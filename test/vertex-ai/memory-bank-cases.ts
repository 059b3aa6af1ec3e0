import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@google-cloud/vertexai';
import { VertexAiMemoryBankService as StockMemoryBankService } from '@google/adk';
import {
  App,
  contentText,
  InMemorySessionService,
  LlmAgent,
  loadMemoryTool,
  preloadMemory,
  Runner,
} from '../../src/adk/index.ts';
import { VertexAiMemoryBankService } from '../../src/adk/vertex-ai/index.ts';
import type { MemoryEntry } from '../../src/tools/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { ENGINE, withFake } from './open-fake.ts';

const owner = { appName: 'office', userId: 'ada' } as const;
const session = { ...owner, sessionId: 's1' } as const;

function createEntries(...texts: readonly string[]): readonly MemoryEntry[] {
  return texts.map((text, at) => ({
    id: String(at + 1),
    author: 'user',
    at,
    content: { role: 'user', parts: [{ text }] },
  }));
}

const texts = (entries: readonly MemoryEntry[]): readonly string[] =>
  entries.map(({ content }) => contentText(content));

test('Memory Bank finds what was added, best first, for this user of this app only', async () =>
  withFake(async (fake, apiEndpoint) => {
    const memory = new VertexAiMemoryBankService({ ...ENGINE, apiEndpoint });
    await memory.add(session, createEntries('I like boats', 'My boat is in Bergen', ' '));
    await memory.add(session, createEntries(' '));
    await memory.add(session, []);
    assert.equal(fake.requests.length, 1);
    const found = await memory.search(owner, 'boat Bergen');
    assert.deepEqual(texts(found), ['My boat is in Bergen']);
    const [entry] = found;
    const stored = fake.memories.all[1];
    assert.ok(entry !== undefined && stored !== undefined);
    assert.ok(stored.name.endsWith(`/memories/${entry.id}`));
    assert.deepEqual([entry.author, entry.at], ['user', Date.parse(stored.updateTime)]);
    assert.equal((await memory.search(owner, 'I is in', { limit: 1 })).length, 1);
    assert.deepEqual(await memory.search({ ...owner, userId: 'bob' }, 'boat'), []);
    assert.deepEqual(await memory.search({ ...owner, appName: 'shop' }, 'boat'), []);
    const requests = fake.requests.length;
    assert.deepEqual(await memory.search(owner, ' '), []);
    assert.equal(fake.requests.length, requests);
  }));

test('stock ADK and this service find the memories of each other', async () =>
  withFake(async (_fake, apiEndpoint) => {
    const client = new Client({ project: 'p1', location: 'us-central1', apiEndpoint });
    const stock = new StockMemoryBankService({ ...ENGINE, client });
    const ours = new VertexAiMemoryBankService({ agentEngineId: '456', client });
    await ours.add(session, createEntries('I live in Bergen'));
    const { memories } = await stock.searchMemory({ ...owner, query: 'Bergen' });
    assert.equal(memories[0]?.content.parts?.[0]?.text, 'I live in Bergen');
    const content = { role: 'user', parts: [{ text: 'I own a boat' }] };
    await stock.addMemory({ ...owner, memories: [{ content }] });
    assert.deepEqual(texts(await ours.search(owner, 'boat')), ['I own a boat']);
  }));

test('a runner adds each invocation once, and both memory tools find it in another session', async () =>
  withFake(async (fake, apiEndpoint) => {
    const memoryService = new VertexAiMemoryBankService({ ...ENGINE, apiEndpoint });
    const model = new ScriptedModel(({ contents, ...request }) => {
      const last = contents.at(-1);
      if (last?.role === 'tool') return { text: JSON.stringify(last.parts[0]) };
      return contentText(last).startsWith('Where')
        ? { toolCalls: [{ name: 'load_memory', args: { query: 'Bergen' } }] }
        : { text: JSON.stringify(request).includes('lived in Bergen') ? 'From memory.' : 'I see.' };
    });
    const agent = new LlmAgent({
      name: 'clerk',
      model,
      tools: [loadMemoryTool()],
      beforeModelCallback: preloadMemory(),
    });
    const sessionService = new InMemorySessionService();
    await using runner = new Runner({
      app: new App({ name: 'office', rootAgent: agent }),
      sessionService,
      memoryService,
      autoCreateSession: true,
    });
    const ask = async (sessionId: string, newMessage: string): Promise<string> =>
      contentText((await runner.run({ userId: 'ada', sessionId, newMessage })).at(-1)?.content);
    assert.equal(await ask('s1', 'I lived in Bergen'), 'I see.');
    assert.deepEqual(
      fake.memories.all.map(({ fact, scope }) => [fact, scope]),
      ['I lived in Bergen', 'I see.'].map((fact) => [fact, { app_name: 'office', user_id: 'ada' }]),
    );
    assert.match(await ask('s2', 'Where did I live?'), /lived in Bergen/);
    assert.equal(await ask('s3', 'Tell me of Bergen'), 'From memory.');
  }));

test('a failure is an error with its status; an Agent Engine is required', async () =>
  withFake(async (fake, apiEndpoint) => {
    const memory = new VertexAiMemoryBankService({ ...ENGINE, apiEndpoint });
    fake.behavior.failure = { path: '/memories', status: 429 };
    for (const [operation, request] of [
      ['generate memories', async () => memory.add(session, createEntries('x'))],
      ['retrieve memories', async () => memory.search(owner, 'x')],
    ] as const)
      await assert.rejects(request, { code: 'vertex_ai_request_failed', operation, status: 429 });
    const { projectId, location } = ENGINE;
    assert.throws(() => new VertexAiMemoryBankService({ projectId, location }), {
      code: 'invalid_input',
      field: 'agentEngineId',
    });
  }));
