import { FunctionTool, LlmAgent } from '@google/adk';
import { Type } from './gemini-schema-names.ts';
import { z } from 'zod';

/**
 * Keeps the preferences of a user in state, and answers with a schema. Rebuilt from the descriptions of the pages on tools
 * and on agents with a model in the documentation of ADK.
 */

const setPreference = new FunctionTool({
  name: 'set_preference',
  description: 'Sets a preference of the user.',
  parameters: z.object({ name: z.string(), value: z.string() }),
  execute: ({ name, value }, toolContext) => {
    const known = Object(toolContext?.state.get('user:preferences', {}));
    const preferences = { ...known, [name]: value };
    toolContext?.state.set('user:preferences', preferences);
    return { status: 'success', preferences: toolContext?.state.get('user:preferences') };
  },
});

const summary = new LlmAgent({
  name: 'summary',
  model: 'scripted',
  description: 'Sums the preferences up.',
  // An agent with a schema does not transfer, so its prompt has no name by itself.
  instruction: 'Your internal name is "summary". Sum up: {user:preferences?}',
  outputSchema: {
    type: Type.OBJECT,
    properties: {
      count: { type: Type.INTEGER, description: 'How many there are.' },
      note: { type: Type.STRING, nullable: true },
    },
    required: ['count'],
  },
  outputKey: 'summary',
});

export const rootAgent: LlmAgent = new LlmAgent({
  name: 'preferences_agent',
  model: 'scripted',
  instruction: `Set what the user says. ${summary.name} sets ${summary.outputKey ?? ''}.`,
  tools: [setPreference],
  subAgents: [summary],
});
