import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { tool } from '../../tools/index.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import { InMemoryRunner } from './in-memory-runner.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { LoopAgent } from '../agents/loop-agent.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import { SequentialAgent } from '../agents/sequential-agent.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

async function stopReasons(
  root: BaseAgent,
  runConfig: RunConfig = {},
): Promise<readonly unknown[]> {
  await using runner = new InMemoryRunner({ agent: root, appName: 'demo' });
  await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
  const events: Event[] = [];
  try {
    for await (const event of runner.runAsync({ ...sessionIds, newMessage: 'Go', runConfig }))
      events.push(event);
  } catch (error) {
    assert.ok(
      error instanceof Error && 'code' in error && error.code === 'llm_calls_limit_exceeded',
    );
  }
  const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
  const stored = session?.events.at(-1)?.stopReason;
  assert.equal(events.at(-1)?.stopReason, stored);
  return events.flatMap(({ stopReason, turnComplete }) =>
    stopReason === undefined ? [] : [[stopReason, turnComplete]],
  );
}

const speaker = (name = 'speaker'): LlmAgent =>
  new LlmAgent({ name, model: new ScriptedModel(() => ({ text: 'Yes.' })) });

const leaveTool = tool({
  name: 'leave',
  description: 'Leaves.',
  execute: (_, { actions }) => {
    actions.escalate();
    return 'left';
  },
});

const leaver = (): LlmAgent =>
  new LlmAgent({
    name: 'leaver',
    tools: [leaveTool],
    model: new ScriptedModel([{ toolCalls: [{ name: 'leave', args: {} }] }, { text: 'Bye.' }]),
  });

const endless = (reaskBudget: number): LlmAgent =>
  new LlmAgent({
    name: 'endless',
    reaskBudget,
    tools: [tool({ name: 'again', description: 'Again.', execute: () => 'ok' })],
    model: new ScriptedModel(() => ({ toolCalls: [{ name: 'again', args: {} }] })),
  });

const limited = [['budget_reached', true]];

describe('the last event of an invocation has the limit that ended it', () => {
  it('after the last iteration of a loop', async () => {
    const loop = new LoopAgent({ name: 'loop', maxIterations: 2, subAgents: [speaker()] });
    assert.deepEqual(await stopReasons(loop), limited);
  });

  it('but not after a loop that ended by itself, even in its last iteration', async () => {
    const loop = new LoopAgent({ name: 'loop', maxIterations: 1, subAgents: [leaver()] });
    assert.deepEqual(await stopReasons(loop), []);
  });

  it('but not after a loop that is followed by other agents', async () => {
    const loop = new LoopAgent({ name: 'loop', maxIterations: 2, subAgents: [speaker()] });
    const root = new SequentialAgent({ name: 'all', subAgents: [loop, speaker('last')] });
    assert.deepEqual(await stopReasons(root), []);
  });

  it('after the re-ask budget is used up', async () => {
    assert.deepEqual(await stopReasons(endless(2)), limited);
  });

  it('after the model call limit is reached', async () => {
    assert.deepEqual(await stopReasons(endless(25), { maxLlmCalls: 2 }), limited);
  });

  it('but not after any other invocation', async () => {
    assert.deepEqual(await stopReasons(speaker()), []);
  });
});
