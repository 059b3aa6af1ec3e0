import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSessionKey } from '../../src/core/index.ts';
import { managedAgent } from '../../src/managed/index.ts';
import { InMemoryMemoryService, tool } from '../../src/tools/index.ts';
import { countingTool, deployTool, playUntil, openManagedFixture } from './managed-fixture.ts';

const remove = { name: 'delete_file', args: { path: 'a.txt' } };

test('a guardrail runs before approval, so the approved arguments are those that run', async () => {
  const deleteTool = countingTool('delete_file');
  await using on = await openManagedFixture([{ toolCalls: [remove] }, { text: 'Gone.' }], {
    tools: [deleteTool],
    definition: {
      tools: [{ type: 'builtin', name: 'delete_file' }],
      permission_policy: { default: 'prompt' },
    },
    guardrails: (_context, { args }) => ({ args: { path: `/safe/${String(args['path'])}` } }),
  });
  await on.send('Delete it');
  const log = await on.until('turn.waiting');
  const [pendingCall] = await on.runtime.pending(on.id);
  assert.deepEqual(pendingCall?.args, { path: '/safe/a.txt' });
  const toolCall = log.find((event) => event.type === 'tool.call');
  assert.deepEqual(
    [toolCall?.args, toolCall?.permission, toolCall?.origin],
    [{ path: '/safe/a.txt' }, 'ask', { kind: 'builtin' }],
  );
  await on.runtime.sendEvent(on.id, {
    type: 'user.tool_confirmation',
    tool_use_id: pendingCall?.callId ?? '',
    result: 'allow',
  });
  await on.until('turn.ended');
  assert.deepEqual(deleteTool.ran, [{ path: '/safe/a.txt' }]);
});

test('a guardrail can answer a call, and then no approval is requested', async () => {
  const deleteTool = countingTool('delete_file');
  await using on = await openManagedFixture([{ toolCalls: [remove] }, { text: 'I may not.' }], {
    tools: [deleteTool],
    definition: {
      tools: [{ type: 'builtin', name: 'delete_file' }],
      permission_policy: { default: 'prompt' },
    },
    guardrails: [() => undefined, () => ({ response: { error: 'Not on a Sunday.' } })],
  });
  await on.send('Delete it');
  const log = await on.until('turn.ended');
  assert.ok(!log.some(({ type }) => type === 'turn.waiting'));
  assert.deepEqual(deleteTool.ran, []);
  const toolCall = log.find((event) => event.type === 'tool.call');
  assert.deepEqual(toolCall?.origin, { kind: 'builtin' });
  assert.match(JSON.stringify(on.model.requests.at(-1)?.contents), /Not on a Sunday/);
});

test('a guardrail also runs before a custom tool waits', async () => {
  const deploy = { name: 'deploy', args: { target: 'prod' } };
  await using on = await openManagedFixture([{ toolCalls: [deploy] }, { text: 'Done.' }], {
    definition: { tools: [deployTool] },
    guardrails: () => undefined,
  });
  await on.send('Deploy');
  const sessionEvents = await on.sessionEventsUntil('agent.custom_tool_use');
  assert.equal(sessionEvents.at(-1)?.type, 'agent.custom_tool_use');
  await on.until('turn.waiting');
  await on.runtime.pause(on.id);
  await on.runtime.interrupt(on.id);
  await on.until('turn.ended');
});

test('messages are stored in memory for the other sessions of their user', async () => {
  const memory = new InMemoryMemoryService();
  const recall = tool({
    name: 'recall',
    description: 'Recalls.',
    readOnly: true,
    execute: async (_, context) => ({
      found: (await context.memory.search('lighthouse')).map(({ content }) => content),
    }),
  });
  await using on = await openManagedFixture(
    ({ contents }) =>
      JSON.stringify(contents).includes('What did I') && contents.at(-1)?.role === 'user'
        ? { toolCalls: [{ name: 'recall', args: {} }] }
        : { text: 'I see.' },
    { memory, tools: [recall], definition: { tools: [{ type: 'builtin', name: 'recall' }] } },
  );
  await on.send('I live in a lighthouse.');
  await on.until('turn.ended');
  const [agent] = (await on.runtime.listAgents()).data;
  const memoryCount = await countMemories(memory);
  assert.equal(memoryCount, 1);
  const later = await on.runtime.startSession(agent?.id ?? '', { userId: 'ada' });
  await on.runtime.sendEvent(later.id, { type: 'user.message', content: 'What did I say?' });
  for await (const event of on.runtime.streamLog(later.id, 0)) {
    if (event.type !== 'tool.result') continue;
    assert.match(JSON.stringify(event.response), /I live in a lighthouse/);
    break;
  }
});

test('deleting a session calls onDelete, and a delete whose onDelete failed can be repeated', async () => {
  const removed: string[] = [];
  await using on = await openManagedFixture([{ text: 'Hi.' }], {
    onDelete: async (key) => {
      removed.push(formatSessionKey(key));
      if (removed.length === 1) throw new Error('The disk is busy.');
    },
  });
  await assert.rejects(on.runtime.deleteSession(on.id), /busy/);
  assert.equal(await on.runtime.deleteSession(on.id), true);
  assert.equal(removed.length, 2);
  assert.equal(removed[0], removed[1]);
  await assert.rejects(on.runtime.status(on.id), { code: 'session_not_found' });
});

test('rewinding a failed turn clears the failed status', async () => {
  await using on = await openManagedFixture([
    { text: 'One.' },
    { text: '', error: { kind: 'overloaded' } },
  ]);
  await on.send('First');
  await on.until('turn.ended');
  const { length } = await on.log();
  await on.send('Second');
  const log = await playUntil(on, 'turn.ended', length);
  assert.equal(await on.status(), 'failed');
  const started = log.find((event) => event.type === 'turn.started');
  await on.runtime.rewind(on.id, { beforeInvocationId: started?.invocationId ?? '' });
  assert.equal(await on.status(), 'idle');
  await assert.rejects(on.runtime.resume(on.id), { code: 'illegal_transition', status: 'idle' });
});

test('the definition builder is immutable and builds all fields', async () => {
  const plain = managedAgent('helper', 'gemini-2.5-flash').withSystem('Be brief.');
  const full = plain
    .withDescription('Helps.')
    .withTools({ type: 'bash' }, { type: 'web_fetch' })
    .withMcpServers({ name: 'files', transport: 'stdio', command: 'files' })
    .withSkills('releases')
    .withPermissionPolicy({ default: 'prompt', tools: { web_fetch: 'auto_approve' } })
    .withMetadata({ team: 'a' });
  assert.deepEqual(full.build(), {
    name: 'helper',
    model: 'gemini-2.5-flash',
    system: 'Be brief.',
    description: 'Helps.',
    tools: [{ type: 'bash' }, { type: 'web_fetch' }],
    mcp_servers: [{ name: 'files', transport: 'stdio', command: 'files' }],
    skills: [{ skill_id: 'releases' }],
    permission_policy: { default: 'prompt', tools: { web_fetch: 'auto_approve' } },
    metadata: { team: 'a' },
  });
  assert.deepEqual(plain.build(), {
    name: 'helper',
    model: 'gemini-2.5-flash',
    system: 'Be brief.',
  });
  assert.throws(() => plain.withMetadata({ '': 'x' }).build(), { code: 'invalid_input' });
});

async function countMemories(memory: InMemoryMemoryService): Promise<number> {
  for (;;) {
    const found = await memory.search({ appName: 'managed', userId: 'ada' }, 'lighthouse');
    if (found.length > 0) return found.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
