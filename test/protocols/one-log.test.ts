/** One session, and four stock clients, each of another protocol: one log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { a2aDrivers } from './drivers/a2a-driver.ts';
import { agUiDriver } from './drivers/ag-ui-driver.ts';
import { aiSdkDrivers } from './drivers/ai-sdk-driver.ts';
import { openScenarioServer } from './scenario-server.ts';

const [a2aDriver] = a2aDrivers;
const [aiSdkDriver] = aiSdkDrivers;

test('a session begun over A2A, approved over AG-UI, read over Managed Agents and continued over the AI SDK is one log', async () => {
  assert.ok(a2aDriver !== undefined && aiSdkDriver !== undefined);
  await using server = await openScenarioServer(['managed', 'a2a', 'ag-ui', 'ai-sdk']);
  const target = { ...server, sessionId: 's1' };

  const a2a = await a2aDriver.open(target);
  const [call, ...others] = (await a2a.send('call erase a')).asked;
  assert.ok(call !== undefined);
  assert.deepEqual([call.name, call.needs, others], ['erase', 'approval', []]);
  assert.deepEqual(server.ran, []);

  const agUi = await agUiDriver.open(target);
  const approved = await agUi.approve(call, true);
  assert.deepEqual([approved.text, approved.error], ['Results: {"erased":"a"}', undefined]);
  assert.deepEqual(server.ran, ['erase']);

  const { beta } = new Anthropic({ baseURL: server.url, apiKey: 'none' });
  const read = async (): Promise<readonly string[]> => {
    const types: string[] = [];
    for await (const { type } of beta.sessions.events.list('s1')) types.push(type);
    return types;
  };
  const before = await read();
  const count = (types: readonly string[], type: string): number =>
    types.filter((one) => one === type).length;
  assert.deepEqual(
    ['user.message', 'user.tool_confirmation', 'agent.tool_result'].map((type) =>
      count(before, type),
    ),
    [1, 1, 1],
  );

  const chat = await aiSdkDriver.open(target);
  assert.equal((await chat.send('Hello')).text, 'You said: Hello');

  // The first client has its task as the others left it.
  const task = await a2a.reconnect();
  assert.deepEqual([task.text, task.asked], ['Results: {"erased":"a"}', []]);
  const after = await read();
  assert.deepEqual(after.slice(0, before.length), before);
  assert.equal(count(after, 'user.message'), 2);
  const log = await server.logTypes('s1');
  assert.deepEqual(
    ['turn.started', 'turn.ended', 'tool.call', 'tool.answered', 'tool.result', 'user.message'].map(
      (type) => count(log, type),
    ),
    [2, 2, 1, 1, 1, 2],
  );
  assert.deepEqual(server.ran, ['erase']);
});
