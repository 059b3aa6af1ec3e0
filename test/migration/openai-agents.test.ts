import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Agent, MemorySession, Runner, RunState, tool } from '@openai/agents';
import { z } from 'zod';
import { type DeskOptions, fail, leaveTime, never, refunded, until } from './behaviors.ts';
import { ScriptedModel } from './models/openai-model.ts';
import { bothCalls, endless, failOnce, oneRefund, type Script, twoSteps } from './models/script.ts';

const request = 'Refund order A-7.';
const runner = new Runner({ tracingDisabled: true });

function createDesk(
  script: Script,
  { refund = refunded, needsApproval = false }: DeskOptions = {},
) {
  const ran: string[] = [];
  const define = (name: string, execute: () => Promise<unknown>, asks: boolean) =>
    tool({
      name,
      description: name,
      parameters: z.object({ order: z.string() }),
      needsApproval: asks,
      execute: async () => {
        ran.push(name);
        return execute();
      },
    });
  const tools = [define('find_order', refunded, false), define('refund', refund, needsApproval)];
  return { desk: new Agent({ name: 'desk', model: new ScriptedModel(script), tools }), ran };
}

async function approve(desk: ReturnType<typeof createDesk>['desk'], stored: string) {
  const state = await RunState.fromString(desk, stored);
  for (const interruption of state.getInterruptions()) state.approve(interruption);
  return runner.run(desk, state);
}

describe('OpenAI Agents SDK', () => {
  it('runs the other calls of an answer while one of them waits', async () => {
    const { desk, ran } = createDesk(bothCalls, { needsApproval: true });
    const { state } = await runner.run(desk, request);
    assert.deepEqual(ran, ['find_order']);
    const { finalOutput } = await approve(desk, state.toString());
    assert.deepEqual(ran, ['find_order', 'refund']);
    assert.equal(finalOutput, 'Done.');
  });

  it('runs a call as often as the same RunState is approved', async () => {
    const { desk, ran } = createDesk(oneRefund, { needsApproval: true });
    const stored = (await runner.run(desk, request)).state.toString();
    for (let n = 0; n < 2; n++) await approve(desk, stored);
    assert.deepEqual(ran, ['refund', 'refund']);
  });

  it('gives the model a fixed sentence for a tool that throws', async () => {
    const { desk } = createDesk(oneRefund, { refund: fail });
    const { history } = await runner.run(desk, request);
    const shown = JSON.stringify(history);
    assert.match(shown, /An error occurred while running the tool\. Please try again\./);
    assert.doesNotMatch(shown, /no money/);
  });

  it('throws MaxTurnsExceededError after 10 turns', async () => {
    const { desk, ran } = createDesk(endless);
    await assert.rejects(runner.run(desk, request), { name: 'MaxTurnsExceededError' });
    assert.equal(ran.length, 10);
  });

  it('does not retry a model call by itself', async () => {
    const { desk } = createDesk(failOnce(new Error('busy')));
    await assert.rejects(runner.run(desk, request), { message: 'busy' });
  });

  it('has stored nothing in its session while a run is in progress', async () => {
    const session = new MemorySession();
    const { desk, ran } = createDesk(twoSteps, { refund: never });
    void runner.run(desk, request, { session });
    await until(() => ran.includes('refund'));
    assert.deepEqual(await session.getItems(), []);
  });

  it('stops when the reader of its stream leaves', async () => {
    const { desk, ran } = createDesk(twoSteps);
    for await (const _ of await runner.run(desk, request, { stream: true })) break;
    await leaveTime();
    assert.ok(!ran.includes('refund'));
  });
});
