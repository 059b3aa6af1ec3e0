import assert from 'node:assert/strict';
import { it } from 'node:test';
import { contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import {
  App,
  InMemoryRunner,
  listArtifactsTool,
  LlmAgent,
  loadArtifactsTool,
  loadMemoryTool,
  PreloadMemoryPlugin,
  preloadMemory,
  saveArtifactTool,
} from '../index.ts';

const user = { userId: 'u1' } as const;

async function remembering(
  agent: LlmAgent,
  plugins: readonly PreloadMemoryPlugin[] = [],
): Promise<InMemoryRunner> {
  const runner = new InMemoryRunner({
    app: new App({ name: 'garden', rootAgent: agent, plugins }),
    autoCreateSession: true,
  });
  await runner.run({ ...user, sessionId: 'old', newMessage: 'I like red tulips.' });
  await runner.run({ ...user, sessionId: 'other', newMessage: 'It rains.' });
  return runner;
}

for (const how of ['callback', 'plugin'] as const)
  it(`memories of another session are in the model request, with a ${how}`, async () => {
    const modelRequests: ModelRequest[] = [];
    const model = new ScriptedModel((request) => {
      modelRequests.push(request);
      return { text: 'Fine.' };
    });
    const agent = new LlmAgent({
      name: 'gardener',
      model,
      identity: false,
      instruction: 'Be kind.',
      ...(how === 'callback' && { beforeModelCallback: preloadMemory() }),
    });
    await using runner = await remembering(
      agent,
      how === 'plugin' ? [new PreloadMemoryPlugin()] : [],
    );
    await runner.run({ ...user, sessionId: 'new', newMessage: 'Which tulips shall I plant?' });
    const { instruction = '', contents } = modelRequests.at(-1) ?? { contents: [] };
    assert.match(
      instruction,
      /^Be kind\.\n\n(?:.*\n)+<PAST_CONVERSATIONS>\nTime: .*\nuser: I like red tulips\.\n/,
    );
    assert.doesNotMatch(instruction, /rains/);
    assert.deepEqual(contents.map(contentText), ['Which tulips shall I plant?']);
    await runner.run({ userId: 'u2', sessionId: 'new', newMessage: 'Which tulips?' });
    assert.equal(modelRequests.at(-1)?.instruction, 'Be kind.');
  });

it('a model searches the memory with a tool', async () => {
  const model = new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'tool'
      ? { text: JSON.stringify(contents.at(-1)?.parts) }
      : contents.length === 1 &&
          contentText(contents[0] ?? { role: 'user', parts: [] }).startsWith('Which')
        ? { toolCalls: [{ name: 'load_memory', args: { query: 'tulips' } }] }
        : { text: 'Fine.' },
  );
  await using runner = await remembering(
    new LlmAgent({ name: 'gardener', model, tools: [loadMemoryTool()] }),
  );
  const events = await runner.run({ ...user, sessionId: 'new', newMessage: 'Which tulips?' });
  assert.match(JSON.stringify(events.at(-1)), /I like red tulips/);
  const none = await runner.run({ userId: 'u2', sessionId: 'new', newMessage: 'Which tulips?' });
  assert.match(JSON.stringify(none.at(-1)), /No memories match .*tulips/);
});

it('a model saves, lists and reads files, and the event lists the saved artifacts', async () => {
  const steps = [
    { toolCalls: [{ name: 'save_artifact', args: { name: 'plan.md', text: 'Dig.' } }] },
    { toolCalls: [{ name: 'list_artifacts', args: {} }] },
    { toolCalls: [{ name: 'load_artifacts', args: { artifact_names: ['plan.md', 'none'] } }] },
    { text: 'Done.' },
  ];
  await using runner = new InMemoryRunner({
    agent: new LlmAgent({
      name: 'gardener',
      model: new ScriptedModel(steps),
      tools: [saveArtifactTool(), listArtifactsTool(), loadArtifactsTool()],
    }),
    appName: 'garden',
    autoCreateSession: true,
  });
  const events = await runner.run({ ...user, sessionId: 's', newMessage: 'Plan.' });
  const results = events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap((part) => ('functionResponse' in part ? [part.functionResponse.response] : []));
  assert.deepEqual(results, [
    { name: 'plan.md', version: 0 },
    { artifact_names: ['plan.md'] },
    {
      artifacts: [
        { name: 'plan.md', text: 'Dig.' },
        { name: 'none', error: 'There is no such file.' },
      ],
    },
  ]);
  assert.deepEqual(
    events.map(({ actions }) => actions.artifactDelta).filter((delta) => 'plan.md' in delta),
    [{ 'plan.md': 0 }],
  );
});
