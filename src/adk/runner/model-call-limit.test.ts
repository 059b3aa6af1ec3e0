import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentText } from '../../core/index.ts';
import type { Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { tool } from '../../tools/index.ts';
import { AgentTool } from '../agents/agent-tool.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import { InMemoryRunner } from './in-memory-runner.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { ParallelAgent } from '../agents/parallel-agent.ts';
import { LlmCallsLimitExceededError } from './runner-errors.ts';
import { Workflow } from '../workflow/workflow.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

/** Runs one message that must exceed the limit, and returns the events before the error. */
async function limited(root: BaseAgent, maxLlmCalls: number): Promise<readonly Event[]> {
  await using runner = new InMemoryRunner({ agent: root, appName: 'demo' });
  await runner.sessionService.createSession({ appName: 'demo', ...sessionIds });
  const events: Event[] = [];
  await assert.rejects(async () => {
    const running = runner.runAsync({
      ...sessionIds,
      newMessage: 'Go',
      runConfig: { maxLlmCalls },
    });
    for await (const event of running) events.push(event);
  }, LlmCallsLimitExceededError);
  return events;
}

/** A model that calls the same tool again and again. */
const callsFor = (name: string, args: { readonly request?: string } = {}): ScriptedModel =>
  new ScriptedModel(() => ({ toolCalls: [{ name, args }] }));

const again = tool({ name: 'again', description: 'Again.', execute: () => 'ok' });

describe('the model call limit applies to the whole invocation', () => {
  it('across agents that are called as tools, at any depth', async () => {
    const models = [callsFor('again'), callsFor('inner', { request: 'x' })];
    const [innermost, middle] = models;
    const inner = new LlmAgent({ name: 'inner', model: innermost ?? '', tools: [again] });
    const clerk = new LlmAgent({
      name: 'clerk',
      model: middle ?? '',
      tools: [new AgentTool({ agent: inner })],
    });
    const outermost = callsFor('clerk', { request: 'x' });
    await limited(
      new LlmAgent({ name: 'boss', model: outermost, tools: [new AgentTool({ agent: clerk })] }),
      4,
    );
    const made = [...models, outermost].map(({ requests }) => requests.length);
    assert.deepEqual(made, [2, 1, 1]);
  });

  it('across parallel agents', async () => {
    const models = Array.from({ length: 5 }, () => callsFor('again'));
    const subAgents = models.map(
      (model, index) => new LlmAgent({ name: `a${index}`, model, tools: [again] }),
    );
    await limited(new ParallelAgent({ name: 'all', subAgents }), 3);
    assert.equal(models.flatMap(({ requests }) => requests).length, 3);
  });

  it('across the nodes of a workflow', async () => {
    const models = Array.from({ length: 3 }, () => new ScriptedModel(() => ({ text: 'Done.' })));
    const [first, second, third] = models.map(
      (model, index) => new LlmAgent({ name: `n${index}`, model }),
    );
    assert.ok(first && second && third);
    await limited(new Workflow({ name: 'flow', edges: [['START', first, second, third]] }), 2);
    assert.equal(models.flatMap(({ requests }) => requests).length, 2);
  });

  it('across model failures that a callback replaces', async () => {
    const callers: string[] = [];
    const model = callsFor('again');
    const root = new LlmAgent({
      name: 'chat',
      model,
      tools: [again],
      onModelErrorCallback: ({ error }) => {
        callers.push(error.message);
        return {
          content: {
            role: 'model',
            parts: [{ functionCall: { id: 'x', name: 'again', args: {} } }],
          },
          finishReason: 'tool_calls',
        };
      },
    });
    const events = await limited(root, 2);
    assert.equal(model.requests.length, 2);
    assert.deepEqual(callers, []);
    assert.ok(events.every(({ content }) => !contentText(content ?? { role: 'user', parts: [] })));
  });
});
