/** Artifacts and memory: versioned files, and search across sessions. Everything is in a folder, offline. */
import assert from 'node:assert/strict';
import {
  App,
  FunctionTool,
  LlmAgent,
  loadMemoryTool,
  Runner,
  SqliteSessionService,
  contentText,
} from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';
import { FileArtifactService, SqliteMemoryService } from 'petrichor/tools';
import { z } from 'zod';

const report = new FunctionTool({
  name: 'report',
  description: 'Writes the report of a city',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }, { artifacts }) => ({
    version: await artifacts.save('report.md', { text: `# ${city}` }), // `user:report.md`: for all sessions of the user
    all: await artifacts.list(),
  }),
});

const model = new ScriptedModel(({ contents }) => {
  const last = contents.at(-1);
  const asked = contentText(last);
  if (last?.role !== 'user') return { text: JSON.stringify(last?.parts[0]) };
  return asked.startsWith('Where')
    ? { toolCalls: [{ name: 'load_memory', args: { query: 'lived' } }] }
    : asked.startsWith('Report')
      ? { toolCalls: [{ name: 'report', args: { city: 'Oslo' } }] }
      : { text: 'I see.' };
});
const agent = new LlmAgent({ name: 'clerk', model, tools: [report, loadMemoryTool()] });

const sessionService = new SqliteSessionService('adk.db');
const artifactService = new FileArtifactService({ rootDir: 'artifacts' }); // or a service of petrichor/artifacts/s3 or /gcs
await using memoryService = new SqliteMemoryService('memory.db'); // stores each invocation when it ends
await using runner = new Runner({
  app: new App({ name: 'office', rootAgent: agent }),
  sessionService,
  artifactService,
  memoryService,
  autoCreateSession: true,
});
const ask = async (sessionId: string, newMessage: string): Promise<string> => {
  const events = await runner.run({ userId: 'ada', sessionId, newMessage });
  return contentText(events.at(-1)?.content);
};

assert.match(await ask('s1', 'Report on Oslo'), /"version":0/);
assert.match(await ask('s1', 'Report again'), /"version":1/);
const key = { session: { appName: 'office', userId: 'ada', sessionId: 's1' }, name: 'report.md' };
assert.deepEqual(await artifactService.versions(key), [0, 1]);
assert.deepEqual(await artifactService.load(key), { text: '# Oslo' });

await ask('s1', 'I lived in Bergen.');
const remembered = await ask('s2', 'Where did I live?'); // another session of the same user
console.log(remembered);
assert.match(remembered, /I lived in Bergen/);
await runner.close();
await sessionService.close();
