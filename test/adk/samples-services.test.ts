/** The samples of ADK's pages that put the services together. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import {
  App,
  DatabaseSessionService,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  Runner,
  contentText,
} from '../../src/adk/index.ts';
import { FileArtifactService, SqliteMemoryService } from '../../src/tools/index.ts';
import { scriptedResolver } from './scripted-resolver.ts';

const saveReport = new FunctionTool({
  name: 'keep',
  description: 'Keeps the report',
  execute: async (_, { artifacts }) => ({
    version: await artifacts.save('report.pdf', {
      inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' },
    }),
  }),
});
const agent = new LlmAgent({ name: 'clerk', model: 'gemini-2.5-flash', tools: [saveReport] });
const modelResolver = scriptedResolver(({ contents }) =>
  contents.at(-1)?.role === 'user' && contentText(contents.at(-1)) === 'Keep it'
    ? { toolCalls: [{ name: 'keep' }] }
    : { text: `Heard ${contents.length} messages.` },
);

it('local persistence: sessions, artifacts and memory in a folder survive a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-adk-'));
  try {
    const sessionKey = { userId: 'u1', sessionId: 's1' };
    const replies: string[] = [];
    for (const newMessage of ['Keep it', 'And now?']) {
      const sessionService = new DatabaseSessionService(`sqlite+aiosqlite:///${folder}/adk.db`);
      const artifactService = new FileArtifactService({ rootDir: join(folder, 'artifacts') });
      await using memoryService = new SqliteMemoryService(join(folder, 'memory.db'));
      await using runner = new Runner({
        app: new App({ name: 'prod_app', rootAgent: agent }),
        sessionService,
        artifactService,
        memoryService,
        autoCreateSession: true,
        modelResolver,
      });
      const events = await runner.run({ ...sessionKey, newMessage });
      replies.push(contentText(events.at(-1)?.content));
      const session = { appName: 'prod_app', ...sessionKey };
      assert.deepEqual(await artifactService.versions({ session, name: 'report.pdf' }), [0]);
      const found = await memoryService.search(session, 'keep');
      assert.deepEqual(
        found.map(({ content }) => contentText(content)),
        ['Keep it'],
      );
      await runner.close();
      await sessionService.close();
    }
    assert.deepEqual(replies, ['Heard 3 messages.', 'Heard 5 messages.']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('a tool saves an artifact, its event contains the version, and the artifact can be loaded', async () => {
  await using runner = new InMemoryRunner({ agent, modelResolver });
  const events = await runner.runDebug('Keep it');
  assert.deepEqual(
    events.map(({ actions }) => actions.artifactDelta).filter((delta) => 'report.pdf' in delta),
    [{ 'report.pdf': 0 }],
  );
  const session = {
    appName: runner.appName,
    userId: 'debug_user_id',
    sessionId: 'debug_session_id',
  };
  const part = await runner.artifactService.load({ session, name: 'report.pdf' });
  assert.ok(part !== undefined && 'inlineData' in part);
});
