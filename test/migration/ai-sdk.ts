/** An agent with two tools. One call waits for approval: run the program again to approve it. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type ModelMessage, tool, ToolLoopAgent } from 'ai';
import { z } from 'zod';
import { createScriptedModel } from './models/ai-sdk-model.ts';

const findOrder = tool({
  description: 'Finds an order',
  inputSchema: z.object({ order: z.string() }),
  execute: async ({ order }) => {
    console.log(`find_order ${order}`);
    return { order, cents: 4200 };
  },
});
const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ order: z.string(), cents: z.number().int() }),
  execute: async ({ order, cents }) => {
    console.log(`refund ${order} ${cents}`);
    return { refunded: cents };
  },
});

const desk = new ToolLoopAgent({
  model: createScriptedModel(),
  tools: { find_order: findOrder, refund },
  toolApproval: { refund: 'user-approval' },
});

// The messages are the state of the agent. The program stores them.
const messages: ModelMessage[] = existsSync('messages.json')
  ? JSON.parse(await readFile('messages.json', 'utf8'))
  : [];
const approvals = listApprovals(messages);
messages.push(
  approvals.length === 0
    ? { role: 'user', content: 'Refund order A-7.' }
    : {
        role: 'tool',
        content: approvals.map(({ approvalId }) => ({
          type: 'tool-approval-response',
          approvalId,
          approved: true,
        })),
      },
);

const result = await desk.stream({ messages });
for await (const part of result.fullStream) {
  if (part.type === 'text-delta') console.log(`text: ${part.text}`);
  if (part.type === 'tool-approval-request') {
    const { toolName, input } = part.toolCall;
    console.log(`waits: ${toolName} ${JSON.stringify(input)}`);
  }
}
messages.push(...(await result.responseMessages));
await writeFile('messages.json', JSON.stringify(messages));

function listApprovals(stored: readonly ModelMessage[]): readonly { approvalId: string }[] {
  const last = stored.at(-1);
  if (last?.role !== 'assistant' || typeof last.content === 'string') return [];
  return last.content.filter((part) => part.type === 'tool-approval-request');
}
