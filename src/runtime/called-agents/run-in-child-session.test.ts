import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, agentTool } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';

const clerk = (tools: Parameters<typeof agent>[0]['tools'] = []) =>
  agent({
    name: 'clerk',
    description: 'Answers one question.',
    tools,
    model: new ScriptedModel(({ contents }, turn) => {
      const firstPart = contents[0]?.parts[0];
      const question = firstPart !== undefined && 'text' in firstPart ? firstPart.text : '';
      return turn === 0 && tools.length > 0
        ? { toolCalls: [{ name: 'look' }] }
        : { text: `Answer to ${question}` };
    }),
  });

const boss = (child: ReturnType<typeof agent>) =>
  agent({
    name: 'boss',
    tools: [agentTool(child)],
    model: new ScriptedModel([
      {
        toolCalls: [
          { name: 'clerk', args: { request: 'one' } },
          { name: 'clerk', args: { request: 'two' } },
        ],
      },
      { text: 'Both are answered.' },
    ]),
  });

test('an agent called twice in one batch runs in two child sessions', async () => {
  await using runtime = await openRuntime({ agents: [boss(clerk())] });
  const session = await runtime.session('work');
  const results: unknown[] = [];
  for await (const event of session.send('Ask.'))
    if (event.type === 'tool.result') results.push(event.response);
  assert.deepEqual(results.toSorted(byText), [
    { result: 'Answer to one' },
    { result: 'Answer to two' },
  ]);
  const children = await runtime.sessions({ parent: 'work' });
  assert.equal(children.length, 2);
  assert.ok(children.every(({ key }) => key.sessionId.startsWith('work/')));
});

test('sessions of called agents are not listed, are deleted with the calling session, and have reserved ids', async () => {
  const store = new MemoryStore();
  await using runtime = await openRuntime({ agents: [boss(clerk())], store });
  const session = await runtime.session('work');
  for await (const event of session.send('Ask.')) void event;
  assert.deepEqual(
    (await runtime.sessions()).map(({ key }) => key.sessionId),
    ['work'],
  );
  assert.deepEqual(await runtime.sessions({ agent: 'clerk' }), []);
  const [child] = await runtime.sessions({ parent: 'work' });
  assert.ok(child);
  assert.equal(await runtime.delete('work'), true);
  assert.deepEqual(await store.list({}), []);
  await assert.rejects(runtime.session(child.key.sessionId, { agent: 'clerk' }), {
    code: 'invalid_input',
    message: /sessionId.*called agent's session/,
  });
});

test('interrupting a turn interrupts the agents it called', async () => {
  const look = tool({
    name: 'look',
    description: 'Never ends.',
    execute: () => new Promise(() => {}),
  });
  await using runtime = await openRuntime({ agents: [boss(clerk([look]))] });
  const session = await runtime.session('work');
  const turn = session.send('Ask.');
  await turn.accepted;
  const looking = async (): Promise<number> =>
    (await runtime.sessions({ parent: 'work' })).filter(({ status }) => status === 'running')
      .length;
  for await (const event of session.events()) {
    if (event.type === 'tool.call') break;
  }
  while ((await looking()) < 2) await new Promise(setImmediate);
  for (const { key } of await runtime.sessions({ parent: 'work' })) {
    const child = await runtime.find(key.sessionId);
    for await (const event of child?.events() ?? []) if (event.type === 'tool.call') break;
  }
  await session.interrupt();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  while ((await looking()) > 0) await new Promise(setImmediate);
});

test('a call that a crash interrupted continues in its child session', async () => {
  const store = new MemoryStore();
  const attempts: string[] = [];
  const look = tool({
    name: 'look',
    description: 'Looks.',
    readOnly: true,
    execute: async (_, { signal }) => {
      attempts.push('look');
      if (attempts.length <= 2)
        await new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      return 'seen';
    },
  });
  await using first = await openRuntime({ agents: [boss(clerk([look]))], store });
  const session = await first.session('work');
  await session.send('Ask.').accepted;
  while (attempts.length < 2) await new Promise(setImmediate);
  // The process dies: its owner is gone and none of its writes succeed.
  for (const { owner } of await store.list({})) if (owner !== null) await store.leave(owner);
  await using second = await openRuntime({ agents: [boss(clerk([look]))], store });
  const again = await second.session('work');
  for await (const event of again.events()) if (event.type === 'turn.ended') break;
  assert.equal((await second.sessions({ parent: 'work' })).length, 2);
  const outcomes: string[] = [];
  for await (const event of again.events(0, { follow: false }))
    if (event.type === 'tool.result') outcomes.push(event.outcome);
  assert.deepEqual(outcomes, ['ok', 'ok']);
});

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
