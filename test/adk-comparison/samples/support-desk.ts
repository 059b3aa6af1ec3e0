import { FunctionTool, LlmAgent } from '@google/adk';
import { z } from 'zod';

/**
 * A tool looks at a question and transfers it to another agent if it is urgent. Rebuilt from the description of the page on
 * tools in the documentation of ADK.
 */

const checkAndTransfer = new FunctionTool({
  name: 'check_and_transfer',
  description: 'Looks at a question, and transfers it if it is urgent.',
  parameters: z.object({ query: z.string() }),
  execute: ({ query }, toolContext) => {
    if (toolContext === undefined) throw new Error('A transfer needs the context.');
    const asked = Number(toolContext.state.get('asked', 0)) + 1;
    toolContext.state.set('asked', asked);
    if (!query.includes('urgent')) return { status: 'success', message: 'The main agent answers.' };
    toolContext.actions.transferToAgent = 'support_agent';
    return { status: 'success', message: 'The support agent answers.' };
  },
});

const supportAgent = new LlmAgent({
  name: 'support_agent',
  model: 'scripted',
  description: 'Answers urgent questions.',
  instruction: 'Answer the urgent question.',
  outputKey: 'support',
});

export const rootAgent: LlmAgent = new LlmAgent({
  name: 'main_agent',
  model: 'scripted',
  description: 'Answers all other questions.',
  instruction: 'Look at each question with check_and_transfer.',
  tools: [checkAndTransfer],
  subAgents: [supportAgent],
});
