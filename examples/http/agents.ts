import { tool } from 'petrichor';
import type { Tool } from 'petrichor';
import { ScriptedModel } from 'petrichor/testing';

/** What `petrichor serve --agents` serves: written as a client would write it, and found as agent_greeter. */
export const agents: readonly object[] = [
  {
    name: 'Greeter',
    model: 'gpt-5',
    system: 'Greet whoever comes, by the time of the day.',
    tools: [{ type: 'builtin', name: 'clock' }],
  },
];

/** What `builtin` names: it runs in the server. */
export const tools: readonly Tool[] = [
  tool({
    name: 'clock',
    description: 'Says what time it is',
    parameters: { type: 'object' },
    readOnly: true,
    execute: () => new Date().toISOString(),
  }),
];

/** A stand-in for gpt-5 that needs no key. Without it, OPENAI_API_KEY is read, and the model is asked. */
const model = new ScriptedModel(({ contents }) => {
  const [part] = contents.at(-1)?.parts ?? [];
  return part !== undefined && 'functionResponse' in part
    ? { text: `Hello! By my clock it is ${JSON.stringify(part.functionResponse.response)}.` }
    : { text: 'Let me see.', toolCalls: [{ name: 'clock', args: {} }] };
});
export const resolver = async (): Promise<ScriptedModel> => model;
