import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRuntime } from 'petrichor';
import { fileAgent } from './agent.ts';
import { demoModel } from './demo-model.ts';

function setUp() {
  const removed: string[] = [];
  const agent = fileAgent(demoModel(), { remove: async (path) => void removed.push(path) });
  return { removed, agent };
}

test('a file is deleted once, after a person approved it', async () => {
  const { removed, agent } = setUp();
  const runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('test');

  for await (const _ of session.send('Delete a.txt')); // ends when the call waits
  const [call] = await session.pending();
  assert.deepEqual(call?.args, { path: 'a.txt' });
  assert.deepEqual(removed, []);

  for await (const _ of session.approve(call.id, { fingerprint: call.fingerprint }));
  assert.deepEqual(removed, ['a.txt']);
  await assert.rejects(session.approve(call.id).accepted, { code: 'already_answered' });
  await runtime.close();
});

test('a denied call deletes nothing', async () => {
  const { removed, agent } = setUp();
  const runtime = await openRuntime({ agents: [agent] });
  const session = await runtime.session('test');

  for await (const _ of session.send('Delete a.txt'));
  const [call] = await session.pending();
  for await (const _ of session.deny(call?.id ?? '', { message: 'Keep it.' }));
  assert.deepEqual(removed, []);
  await runtime.close();
});
