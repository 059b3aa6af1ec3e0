import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ScriptedModel } from '../../models/index.ts';
import { InMemoryMemoryService } from '../../tools/index.ts';
import {
  InMemoryArtifactService,
  InMemorySessionService,
  LlmAgent,
  Runner,
  saveArtifactTool,
} from '../index.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;
const key = { appName: 'demo', ...sessionIds };

function createFixture(): {
  runner: Runner;
  service: InMemorySessionService;
  artifacts: InMemoryArtifactService;
} {
  const service = new InMemorySessionService();
  const artifacts = new InMemoryArtifactService();
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : {
          toolCalls: ['own.txt', 'user:kept.txt'].map((name) => ({
            name: 'save_artifact',
            args: { name, text: 'x' },
          })),
        },
  );
  const runner = new Runner({
    appName: 'demo',
    agent: new LlmAgent({ name: 'a', model, tools: [saveArtifactTool()] }),
    sessionService: service,
    artifactService: artifacts,
    memoryService: new InMemoryMemoryService(),
    autoCreateSession: true,
  });
  return { runner, service, artifacts };
}

async function documentsIn(service: InMemorySessionService): Promise<number> {
  const store = await service.store();
  const kinds = ['adk.metadata', 'adk.memory'];
  const kept = await Promise.all(kinds.map(async (kind) => store.documents({ kind })));
  return kept.flat().length;
}

it('a deleted session leaves no data behind', async () => {
  const { runner, service } = createFixture();
  for (const newMessage of ['1', '2'])
    await runner.run({
      ...sessionIds,
      newMessage,
      runConfig: { customMetadata: { trace: newMessage } },
    });
  assert.equal(await documentsIn(service), 3);
  await service.deleteSession(key);
  await service.deleteSession(key);
  assert.equal(await documentsIn(service), 0);
  await runner.close();
  await service.close();
});

it('an ephemeral run leaves no session and no session artifact, and user artifacts are kept', async () => {
  const { runner, service, artifacts } = createFixture();
  let sessionId = '';
  const runConfig = { customMetadata: { trace: 1 } };
  for await (const _ of runner.runEphemeral({ userId: 'u1', newMessage: 'Go', runConfig })) {
    const { sessions } = await service.listSessions({ appName: 'demo' });
    sessionId = sessions[0]?.id ?? sessionId;
  }
  assert.notEqual(sessionId, '');
  assert.deepEqual(await artifacts.list({ ...key, sessionId }), ['user:kept.txt']);
  assert.deepEqual(await service.listSessions({ appName: 'demo' }), { sessions: [] });
  assert.equal(await documentsIn(service), 0);
  await runner.close();
  await service.close();
});
