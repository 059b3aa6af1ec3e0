/** An agent with two tools. One call waits for approval: run the program again to approve it. */
import {
  DatabaseSessionService,
  FunctionTool,
  getPendingUserInputRequests,
  LlmAgent,
  Runner,
  setLogger,
  StreamingMode,
} from '@google/adk';
import { z } from 'zod';
import { ScriptedLlm } from './models/adk-model.ts';

setLogger(null); // no logs between the lines of this program

const findOrder = new FunctionTool({
  name: 'find_order',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  execute: ({ order }) => {
    console.log(`find_order ${order}`);
    return { order, cents: 4200 };
  },
});
const refund = new FunctionTool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.string(), cents: z.number().int() }),
  requireConfirmation: true,
  execute: ({ order, cents }) => {
    console.log(`refund ${order} ${cents}`);
    return { refunded: cents };
  },
});

const agent = new LlmAgent({ name: 'desk', model: new ScriptedLlm(), tools: [findOrder, refund] });
const sessionService = new DatabaseSessionService(process.env['DATABASE_URL'] ?? '');
const runner = new Runner({ agent, appName: 'desk', sessionService });
const key = { appName: 'desk', userId: 'ada', sessionId: 'A-7' };
const session = (await sessionService.getSession(key)) ?? (await sessionService.createSession(key));

const requests = getPendingUserInputRequests(session.events);
const parts =
  requests.length === 0
    ? [{ text: 'Refund order A-7.' }]
    : requests.map(({ interruptId, functionCallName }) => ({
        functionResponse: {
          id: interruptId,
          name: functionCallName,
          response: { confirmed: true },
        },
      }));
const events = runner.runAsync({
  ...key,
  newMessage: { role: 'user', parts },
  runConfig: { streamingMode: StreamingMode.SSE },
});
for await (const event of events) {
  for (const { text, functionCall } of event.content?.parts ?? []) {
    if (event.partial === true && text !== undefined) console.log(`text: ${text}`);
    if (functionCall?.name === 'adk_request_confirmation') {
      const { name, args } = functionCall.args?.['originalFunctionCall'] as {
        name: string;
        args: object;
      };
      console.log(`waits: ${name} ${JSON.stringify(args)}`);
    }
  }
}
process.exit(); // the session service has no close()
