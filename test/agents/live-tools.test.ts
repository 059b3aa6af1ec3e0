import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../src/agents/index.ts';
import type { Callbacks } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { tool, toolset } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { runAgent } from './run-agent.ts';

async function runLaterTool(needsApproval: boolean, callbacks: Callbacks): Promise<Tool[]> {
  const ran: Tool[] = [];
  const shown: Tool[] = [];
  const model = new ScriptedModel([{ toolCalls: [{ name: 'look', args: {} }] }, { text: 'Done.' }]);
  const tools = [toolset('set', () => shown)];
  const running = runAgent(agent({ name: 'clerk', model, tools, callbacks }));
  const look = tool({
    name: 'look',
    description: 'Looks.',
    needsApproval,
    execute: () => {
      ran.push(look);
      return 'seen';
    },
  });
  shown.push(look);
  await running.sendAndWait('look');
  if (needsApproval) {
    const [callId = ''] = running.parked();
    running.answer(callId, 'approved');
    await running.until('turn.ended');
  }
  assert.deepEqual(
    running.records.filter(({ kind }) => kind === 'faulted'),
    [],
  );
  return ran;
}

for (const [title, callbacks] of [
  ['without callbacks', {}],
  ['with callbacks', { beforeTool: () => undefined }],
] as const) {
  test(`a tool that a toolset shows after the agent was defined runs, ${title}`, async () => {
    assert.equal((await runLaterTool(false, callbacks)).length, 1);
    assert.equal((await runLaterTool(true, callbacks)).length, 1);
  });
}
