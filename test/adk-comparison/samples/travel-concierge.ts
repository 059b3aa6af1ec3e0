import { AgentTool, FunctionTool, LlmAgent } from '@google/adk';
import { z } from 'zod';

/**
 * A travel concierge: agents for inspiration, planning and booking, to which the concierge transfers. They share the
 * session's state. Rebuilt from the description of the sample "travel-concierge" of ADK.
 */

/** The test answers for this model. */
const model = 'scripted';

const memorize = new FunctionTool({
  name: 'memorize',
  description: 'Remembers a fact about the trip, such as its destination.',
  parameters: z.object({ key: z.string(), value: z.string() }),
  execute: ({ key, value }, toolContext) => {
    toolContext?.state.set(key, value);
    return { status: `Stored ${key}.` };
  },
});

const placeAgent = new LlmAgent({
  name: 'place_agent',
  model,
  description: 'Suggests destinations for a wish.',
  instruction: 'Suggest up to three places for the wish of the user.',
  outputKey: 'places',
});

const inspirationAgent = new LlmAgent({
  name: 'inspiration_agent',
  model,
  description: 'Inspires the user with destinations and activities.',
  instruction: 'Help {user:name?} to find a destination. Memorize the choice as "destination".',
  tools: [new AgentTool({ agent: placeAgent }), memorize],
});

const searchFlights = new FunctionTool({
  name: 'search_flights',
  description: 'Lists the flights between two cities.',
  parameters: z.object({ origin: z.string(), destination: z.string() }),
  execute: ({ origin, destination }) => ({
    flights: [
      { flight: 'PT 101', from: origin, to: destination, price: 420 },
      { flight: 'PT 202', from: origin, to: destination, price: 380 },
    ],
  }),
});

const planningAgent = new LlmAgent({
  name: 'planning_agent',
  model,
  description: 'Plans flights and hotels, and completes the itinerary.',
  instruction: 'The trip goes from {home} to {destination?}. Choose a flight, and memorize it.',
  tools: [searchFlights, memorize],
});

const processPayment = new FunctionTool({
  name: 'process_payment',
  description: 'Pays the flight of the itinerary.',
  parameters: z.object({ method: z.enum(['card', 'wallet']) }),
  execute: ({ method }, toolContext) => {
    const flight = toolContext?.state.get('flight');
    if (flight === undefined) return { status: 'failed', reason: 'The itinerary has no flight.' };
    toolContext?.state.set('booked', flight);
    if (toolContext !== undefined) toolContext.actions.transferToAgent = 'root_agent';
    return { status: 'paid', flight, method };
  },
});

const bookingAgent = new LlmAgent({
  name: 'booking_agent',
  model,
  description: 'Books what the itinerary contains.',
  instruction: 'Book the flight {flight?} once the user agrees.',
  tools: [processPayment],
});

export const rootAgent: LlmAgent = new LlmAgent({
  name: 'root_agent',
  model,
  description: 'A travel concierge.',
  instruction: 'You are the concierge of {user:name?}. Transfer to the agent that can help.',
  subAgents: [inspirationAgent, planningAgent, bookingAgent],
  beforeAgentCallback: ({ state }) => {
    if (state.get('home') === undefined) state.set('home', 'Lisbon');
    if (state.get('user:name') === undefined) state.set('user:name', 'Ada');
    return undefined;
  },
});
