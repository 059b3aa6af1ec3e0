/** An agent with two tools. One call waits for approval: run the program again to approve it. */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, Runner, RunState, tool } from '@openai/agents';
import { z } from 'zod';
import { ScriptedModel } from './models/openai-model.ts';

const findOrder = tool({
  name: 'find_order',
  description: 'Finds an order',
  parameters: z.object({ order: z.string() }),
  execute: async ({ order }) => {
    console.log(`find_order ${order}`);
    return { order, cents: 4200 };
  },
});
const refund = tool({
  name: 'refund',
  description: 'Refunds an order',
  parameters: z.object({ order: z.string(), cents: z.number().int() }),
  needsApproval: true,
  execute: async ({ order, cents }) => {
    console.log(`refund ${order} ${cents}`);
    return { refunded: cents };
  },
});

const desk = new Agent({ name: 'desk', model: new ScriptedModel(), tools: [findOrder, refund] });
const runner = new Runner({ tracingDisabled: true });

// A run that waits is a RunState. The program stores it.
let input: string | RunState<undefined, typeof desk> = 'Refund order A-7.';
if (existsSync('run-state.json')) {
  input = await RunState.fromString(desk, await readFile('run-state.json', 'utf8'));
  for (const interruption of input.getInterruptions()) input.approve(interruption);
}

const result = await runner.run(desk, input, { stream: true });
for await (const text of result.toTextStream()) console.log(`text: ${text}`);
await result.completed;
for (const { name, arguments: args } of result.interruptions) console.log(`waits: ${name} ${args}`);
if (result.interruptions.length > 0) await writeFile('run-state.json', result.state.toString());
else await rm('run-state.json', { force: true });
