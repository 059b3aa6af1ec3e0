import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { aiSdkEmbed, ModelError, ScriptedModel } from '../../models/index.ts';
import type { EmbeddingModel } from '../../models/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import { retrievalTool } from './retrieval-tool.ts';
import { VectorRetriever } from './vector-retriever.ts';

const WORDS = ['tulip', 'train', 'cheese'];

/** Counts the words that it knows. */
function createEmbedding(
  maxEmbeddingsPerCall: number | undefined,
  calls: string[][] = [],
): EmbeddingModel {
  return {
    provider: 'test',
    modelId: 'words',
    maxEmbeddingsPerCall,
    doEmbed: async ({ values }) => {
      calls.push(values);
      return { embeddings: values.map((text) => WORDS.map((word) => text.split(word).length - 1)) };
    },
  };
}

test('the model finds passages by meaning, and reads them as the result of its call', async () => {
  const calls: string[][] = [];
  const retriever = new VectorRetriever({ embed: aiSdkEmbed(createEmbedding(2, calls)) });
  await retriever.add([
    { id: '1', text: 'A tulip is a flower.' },
    { id: '2', text: 'The train leaves at noon.', metadata: { source: 'timetable' } },
    { id: '3', text: 'A train and a tulip.' },
  ]);
  assert.deepEqual(
    calls.map(({ length }) => length),
    [2, 1],
  );
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'look_up', args: { query: 'When is the train?' } }] },
    { text: 'At noon.' },
  ]);
  const lookUp = retrievalTool({ name: 'look_up', description: 'Finds facts.', retriever });
  const clerk = agent({ name: 'clerk', model, tools: [lookUp] });
  await using runtime = await openRuntime({ agents: [clerk], store: 'memory:' });
  const session = await runtime.session('s');
  assert.equal(await session.ask('When?'), 'At noon.');
  const results: unknown[] = [];
  for await (const event of session.events(0, { follow: false }))
    if (event.type === 'tool.result') results.push(event.response);
  assert.match(
    JSON.stringify(results),
    /\[\{"passages":\[\{"id":"2","text":"The train leaves at noon\.","metadata":\{"source":"timetable"\},"score":1\},\{"id":"3"/,
  );
  assert.doesNotMatch(
    JSON.stringify(results),
    /flower/,
    'a passage without a likeness is not shown',
  );
});

test('a passage with the same id is replaced, and an empty query finds nothing', async () => {
  const retriever = new VectorRetriever({ embed: aiSdkEmbed(createEmbedding(undefined)) });
  await retriever.add([{ id: '1', text: 'cheese' }]);
  await retriever.add([{ id: '1', text: 'tulip' }]);
  const { signal } = new AbortController();
  assert.deepEqual(await retriever.retrieve('cheese', { limit: 3, signal }), []);
  assert.equal((await retriever.retrieve('tulip', { limit: 3, signal })).length, 1);
  assert.deepEqual(await retriever.retrieve(' ', { limit: 3, signal }), []);
});

test('a wrong number of vectors and bad options are errors', async () => {
  const broken: EmbeddingModel = {
    ...createEmbedding(10),
    doEmbed: async () => ({ embeddings: [[1]] }),
  };
  await assert.rejects(aiSdkEmbed(broken)(['a', 'b']), ModelError);
  const retriever = new VectorRetriever({ embed: async () => [] });
  await assert.rejects(retriever.add([{ id: '1', text: 'a' }]), /one vector per text/);
  const definition = { name: 'a', description: 'A.', retriever };
  assert.throws(() => retrievalTool({ ...definition, limit: 0 }), /limit/);
  assert.throws(() => retrievalTool({ ...definition, retriever: {} as never }), /retriever/);
});
