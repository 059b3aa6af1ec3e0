/** What `petrichor serve` serves: agents as data, and the tools and the model that only a program can provide. */
import { tool, type Model, type Tool } from 'petrichor';
import { z } from 'zod';
import { demoModel } from './demo-model.ts';

// The id of this agent is agent_order-desk.
export const agents: readonly object[] = [
  {
    name: 'Order desk',
    model: process.env['MODEL'] ?? 'gpt-5',
    system: 'Answer questions about orders. Be brief.',
    tools: [
      { type: 'builtin', name: 'order_status' },
      { type: 'builtin', name: 'cancel_order', permission_policy: { type: 'always_ask' } },
    ],
  },
];

const orders = new Map([
  ['A-1', 'shipped'],
  ['A-2', 'open'],
]);

const id = z.object({ id: z.string() });

// The tools that definitions name.
export const tools: readonly Tool[] = [
  tool({
    name: 'order_status',
    description: 'Returns the status of an order',
    parameters: id,
    readOnly: true,
    execute: (order) => ({ status: orders.get(order.id) ?? 'unknown' }),
  }),
  tool({
    name: 'cancel_order',
    description: 'Cancels an open order',
    parameters: id,
    idempotent: true, // to cancel twice is to cancel once, so a crash may repeat it
    execute: (order) => {
      if (orders.get(order.id) !== 'open') throw new Error(`${order.id} is not open.`);
      orders.set(order.id, 'canceled');
      return { status: 'canceled' };
    },
  }),
];

// MODEL=gpt-5 npm start, after npm install @ai-sdk/openai and with OPENAI_API_KEY set
export const resolver: (() => Promise<Model>) | undefined =
  process.env['MODEL'] === undefined ? async () => demoModel() : undefined;
