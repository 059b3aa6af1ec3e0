import { FunctionTool, LlmAgent } from '@google/adk';
import { z } from 'zod';

/**
 * A customer service of a garden shop: tools around a cart, and callbacks that load the customer, limit the requests,
 * check the arguments of tools and apply discounts. Rebuilt from the description of the sample "customer-service" of
 * ADK.
 */

/** The test answers for this model. */
const model = 'scripted';

const REQUESTS_PER_SESSION = 8;
const DISCOUNT_LIMIT = 10;

const accessCart = new FunctionTool({
  name: 'access_cart_information',
  description: 'Returns the cart of a customer.',
  parameters: z.object({ customerId: z.string() }),
  execute: (_args, toolContext) => ({ items: toolContext?.state.get('cart') ?? [] }),
});

const modifyCart = new FunctionTool({
  name: 'modify_cart',
  description: 'Adds and removes products of the cart of a customer.',
  parameters: z.object({
    customerId: z.string(),
    add: z.array(z.string()).default([]),
    remove: z.array(z.string()).default([]),
  }),
  execute: ({ add, remove }, toolContext) => {
    const cart = z.array(z.string()).parse(toolContext?.state.get('cart') ?? []);
    const items = [...cart.filter((product) => !remove.includes(product)), ...add];
    toolContext?.state.set('cart', items);
    return { status: 'success', items };
  },
});

const checkAvailability = new FunctionTool({
  name: 'check_product_availability',
  description: 'Tells whether a product is in stock.',
  parameters: z.object({ product: z.string() }),
  execute: ({ product }) => ({ product, available: product !== 'fern' }),
});

const approveDiscount = new FunctionTool({
  name: 'approve_discount',
  description: 'Approves a discount in percent. Larger discounts need a manager.',
  parameters: z.object({ percent: z.number(), reason: z.string() }),
  execute: ({ percent }) => ({ status: 'approved', percent }),
});

export const rootAgent: LlmAgent = new LlmAgent({
  name: 'customer_service_agent',
  model,
  globalInstruction: 'The profile of the customer: {customer_profile}',
  instruction: 'You help customers of a garden shop. Check the cart before you recommend.',
  tools: [accessCart, modifyCart, checkAvailability, approveDiscount],
  beforeAgentCallback: ({ state }) => {
    if (state.get('customer_profile') === undefined) {
      state.set('customer_profile', 'Ada, c-1, since 2020');
      state.set('customer_id', 'c-1');
    }
    return undefined;
  },
  beforeModelCallback: ({ context }) => {
    const requests = Number(context.state.get('requests') ?? 0) + 1;
    context.state.set('requests', requests);
    return requests > REQUESTS_PER_SESSION
      ? { content: { role: 'model', parts: [{ text: 'Please come back later.' }] } }
      : undefined;
  },
  beforeToolCallback: ({ tool, args, context }) => {
    if ('customerId' in args && args['customerId'] !== context.state.get('customer_id'))
      return { status: 'refused', reason: 'This cart belongs to somebody else.' };
    if (typeof args['product'] === 'string') args['product'] = args['product'].toLowerCase();
    if (tool.name === 'approve_discount' && Number(args['percent']) > DISCOUNT_LIMIT)
      return { status: 'refused', reason: 'A manager must approve it.' };
    return undefined;
  },
  afterToolCallback: ({ tool, args, context, response }) => {
    if (tool.name !== 'approve_discount' || response['status'] !== 'approved') return undefined;
    context.state.set('discount', Number(args['percent']));
    return { ...response, message: 'The discount is in the cart.' };
  },
});
