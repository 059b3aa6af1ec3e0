import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { APICallError, type ModelMessage, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
import { agent, contentText, openRuntime, tool as petrichorTool } from '../../dist/index.js';
import { aiSdkModel } from '../../dist/models/index.js';
import { type DeskOptions, fail, leaveTime, refunded } from './behaviors.ts';
import { createScriptedModel } from './models/ai-sdk-model.ts';
import { bothCalls, endless, failOnce, oneRefund, type Script, twoSteps } from './models/script.ts';

const request: readonly ModelMessage[] = [{ role: 'user', content: 'Refund order A-7.' }];

function createDesk(
  script: Script,
  { refund = refunded, needsApproval = false }: DeskOptions = {},
) {
  const ran: string[] = [];
  const define = (name: string, execute: () => Promise<unknown>) =>
    tool({
      description: name,
      inputSchema: z.object({ order: z.string() }),
      execute: async () => {
        ran.push(name);
        return execute();
      },
    });
  const desk = new ToolLoopAgent({
    model: createScriptedModel(script),
    tools: { find_order: define('find_order', refunded), refund: define('refund', refund) },
    toolApproval: needsApproval ? { refund: 'user-approval' } : {},
  });
  return { desk, ran };
}

type Desk = ReturnType<typeof createDesk>['desk'];

/** Runs the agent and returns all messages. */
async function send(desk: Desk, messages: readonly ModelMessage[]): Promise<ModelMessage[]> {
  const errors: unknown[] = [];
  const result = await desk.stream({ messages: [...messages] });
  for await (const part of result.fullStream) if (part.type === 'error') errors.push(part.error);
  if (errors.length > 0) throw errors[0];
  return [...messages, ...(await result.responseMessages)];
}

function approve(messages: readonly ModelMessage[]): ModelMessage[] {
  const content = messages.flatMap((message) => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return [];
    return message.content.flatMap((part) =>
      part.type === 'tool-approval-request'
        ? [
            {
              type: 'tool-approval-response' as const,
              approvalId: part.approvalId,
              approved: true,
            },
          ]
        : [],
    );
  });
  return [...messages, { role: 'tool', content }];
}

describe('AI SDK', () => {
  it('runs the other calls of an answer while one of them waits', async () => {
    const { desk, ran } = createDesk(bothCalls, { needsApproval: true });
    const messages = await send(desk, request);
    assert.deepEqual(ran, ['find_order']);
    await send(desk, approve(messages));
    assert.deepEqual(ran, ['find_order', 'refund']);
  });

  it('runs a call as often as the same messages are sent with its approval', async () => {
    const { desk, ran } = createDesk(oneRefund, { needsApproval: true });
    const approved = approve(await send(desk, request));
    await Promise.all([send(desk, approved), send(desk, approved)]);
    assert.deepEqual(ran, ['refund', 'refund']);
  });

  it('rejects a new message while a call waits', async () => {
    const { desk } = createDesk(oneRefund, { needsApproval: true });
    const messages = await send(desk, request);
    await assert.rejects(send(desk, [...messages, { role: 'user', content: 'Hello?' }]), {
      name: 'AI_MissingToolResultsError',
    });
  });

  it('gives the model the message of a tool that throws', async () => {
    const { desk } = createDesk(oneRefund, { refund: fail });
    assert.match(
      JSON.stringify(await send(desk, request)),
      /"error-text","value":"Error: no money"/,
    );
  });

  it('stops after 20 steps without a final text', async () => {
    const { desk, ran } = createDesk(endless);
    const result = await desk.stream({ messages: [...request] });
    await result.consumeStream();
    assert.equal(ran.length, 20);
    assert.equal(await result.finishReason, 'tool-calls');
    assert.equal(await result.text, '');
  });

  it('retries a model call that failed with a retryable error', async () => {
    const options = { message: 'busy', url: '', requestBodyValues: {}, isRetryable: true };
    const { desk } = createDesk(failOnce(new APICallError(options)));
    assert.match(JSON.stringify(await send(desk, request)), /Done\./);
  });

  it('has models that Petrichor runs unchanged', async () => {
    const model = aiSdkModel(createScriptedModel(twoSteps));
    const define = (name: string) =>
      petrichorTool({
        name,
        description: name,
        parameters: z.object({ order: z.string() }),
        execute: refunded,
      });
    const desk = agent({ name: 'desk', model, tools: [define('find_order'), define('refund')] });
    await using runtime = await openRuntime({ agents: [desk] });
    const session = await runtime.session('A-7');
    const texts: string[] = [];
    for await (const event of session.send('Refund order A-7.'))
      if (event.type === 'agent.message') texts.push(contentText(event.content));
    assert.equal(texts.at(-1), 'Done.');
  });

  it('stops when the reader of its stream leaves', async () => {
    const { desk, ran } = createDesk(twoSteps);
    const { fullStream } = await desk.stream({ messages: [...request] });
    for await (const { type } of fullStream) if (type === 'tool-call') break;
    await leaveTime();
    assert.ok(!ran.includes('refund'));
  });
});
