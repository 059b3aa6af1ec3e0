import { agent, tool, type Agent, type Model } from 'petrichor';
import { z } from 'zod';
import { demoModel } from './demo-model.ts';

/** The shop that the agent works for. A test passes its own. */
export interface Shop {
  price(item: string): Promise<number>;
  order(item: string, key: string): Promise<void>;
}

export function shopAgent(model: Model | string, shop: Shop): Agent {
  const price = tool({
    name: 'price',
    description: 'Returns the price of an item in cents',
    parameters: z.object({ item: z.string() }),
    readOnly: true,
    execute: async ({ item }) => ({ cents: await shop.price(item) }),
  });
  const order = tool({
    name: 'order',
    description: 'Orders an item',
    parameters: z.object({ item: z.string() }),
    needsApproval: true,
    idempotent: true, // the shop counts two orders with the same key once, so a crash may repeat it
    execute: async ({ item }, { firingId }) => shop.order(item, firingId),
  });
  return agent({ name: 'shop', model, tools: [price, order], instruction: 'Be brief.' });
}

/** A shop in memory. */
export function demoShop(): Shop & { readonly orders: ReadonlyMap<string, string> } {
  const orders = new Map<string, string>();
  return {
    orders,
    price: async (item) => item.length * 100,
    order: async (item, key) => void orders.set(key, item),
  };
}

// MODEL=gpt-5 npm start, after npm install @ai-sdk/openai and with OPENAI_API_KEY set
export default shopAgent(process.env['MODEL'] ?? demoModel(), demoShop());
