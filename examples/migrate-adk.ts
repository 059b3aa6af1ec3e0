/** An ADK agent with two tools. One call waits for approval: run the program again to approve it. */
import {
  FunctionTool,
  getPendingUserInputRequests,
  LlmAgent,
  Runner,
  SqliteSessionService,
} from 'petrichor/adk';
import { ScriptedModel } from 'petrichor/testing';
import { z } from 'zod';

const findOrder = new FunctionTool({
  name: 'find_order',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  readOnly: true,
  execute: ({ order }) => {
    console.log(`find_order ${order}`);
    return { order, cents: 4200 };
  },
});
const refund = new FunctionTool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.string(), cents: z.number().int() }),
  needsApproval: true,
  execute: ({ order, cents }) => {
    console.log(`refund ${order} ${cents}`);
    return { refunded: cents };
  },
});

const model = new ScriptedModel([
  { toolCalls: [{ name: 'find_order', args: { order: 'A-7' } }] },
  { toolCalls: [{ name: 'refund', args: { order: 'A-7', cents: 4200 } }] },
  { text: 'I refunded 42.00 for A-7.' },
]);
const agent = new LlmAgent({ name: 'desk', model, tools: [findOrder, refund] });
const sessionService = new SqliteSessionService('adk.db');
const runner = new Runner({ agent, appName: 'desk', sessionService });
const key = { appName: 'desk', userId: 'ada', sessionId: 'A-7' };
const session = (await sessionService.getSession(key)) ?? (await sessionService.createSession(key));

const requests = getPendingUserInputRequests(session.events);
const parts =
  requests.length === 0
    ? [{ text: 'Refund order A-7.' }]
    : requests.map(({ interruptId: id, functionCallName: name }) => ({
        functionResponse: { id, name, response: { confirmed: true } },
      }));
const events = runner.runAsync({
  ...key,
  newMessage: { role: 'user', parts },
  runConfig: { streamingMode: 'sse' },
});
for await (const event of events) {
  for (const part of event.content?.parts ?? [])
    if (event.partial === true && 'text' in part) console.log(`text: ${part.text}`);
  for (const { toolName, args } of getPendingUserInputRequests([event]))
    console.log(`waits: ${toolName} ${JSON.stringify(args)}`);
}
await runner.close();
await sessionService.close();
