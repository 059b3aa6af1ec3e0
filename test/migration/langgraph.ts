/** An agent with two tools. One call waits for approval: run the program again to approve it. */
import { AIMessageChunk } from '@langchain/core/messages';
import { Command } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { createAgent, type HITLRequest, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import { ScriptedChatModel } from './models/langchain-model.ts';

const findOrder = tool(
  ({ order }) => {
    console.log(`find_order ${order}`);
    return { order, cents: 4200 };
  },
  {
    name: 'find_order',
    description: 'Finds an order',
    schema: z.object({ order: z.string() }),
  },
);
const refund = tool(
  ({ order, cents }) => {
    console.log(`refund ${order} ${cents}`);
    return { refunded: cents };
  },
  {
    name: 'refund',
    description: 'Refunds an order',
    schema: z.object({ order: z.string(), cents: z.number().int() }),
  },
);

const checkpointer = PostgresSaver.fromConnString(process.env['DATABASE_URL'] ?? '');
await checkpointer.setup();
const desk = createAgent({
  model: new ScriptedChatModel(),
  tools: [findOrder, refund],
  checkpointer,
  middleware: [humanInTheLoopMiddleware({ interruptOn: { refund: true } })],
});
const config = { configurable: { thread_id: 'A-7' } };

const input =
  (await findRequests()).length === 0
    ? { messages: [{ role: 'user', content: 'Refund order A-7.' }] }
    : new Command({ resume: { decisions: [{ type: 'approve' }] } });
for await (const [chunk] of await desk.stream(input, { ...config, streamMode: 'messages' })) {
  if (AIMessageChunk.isInstance(chunk) && chunk.text !== '') console.log(`text: ${chunk.text}`);
}
for (const { name, args } of await findRequests())
  console.log(`waits: ${name} ${JSON.stringify(args)}`);
await checkpointer.end();

async function findRequests(): Promise<HITLRequest['actionRequests']> {
  const { tasks } = await desk.graph.getState(config);
  const interrupts = tasks.flatMap((task) => task.interrupts);
  return interrupts.flatMap(({ value }) => (value as HITLRequest).actionRequests);
}
