import { tool } from 'petrichor';
import type { Tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

// The agents, as data. The id of this agent is agent_greeter.
export const agents: readonly object[] = [
  {
    name: 'Greeter',
    model: 'gpt-5',
    system: 'Greet the user by the time of day.',
    tools: [{ type: 'builtin', name: 'clock' }], // a tool of the list `tools`
  },
];

// The tools that run in the server.
export const tools: readonly Tool[] = [
  tool({
    name: 'clock',
    description: 'Returns the time',
    readOnly: true,
    execute: () => new Date().toISOString(),
  }),
];

// Replaces gpt-5 by a model that needs no API key. Without `resolver`, the server calls gpt-5.
const model = new ScriptedModel(({ contents }) =>
  contents.at(-1)?.role === 'user'
    ? { toolCalls: [{ name: 'clock' }] }
    : { text: 'Hello! I looked at the clock.' },
);
export const resolver = async (): Promise<ScriptedModel> => model;
