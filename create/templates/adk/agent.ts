/** A trip planner: one agent collects the facts, the next writes the plan. The names are those of Google's ADK. */
import { FunctionTool, LlmAgent, SequentialAgent } from 'petrichor/adk';
import type { Model } from 'petrichor';
import { z } from 'zod';
import { researcherModel, writerModel } from './demo-model.ts';

export function tripPlanner(models: {
  readonly researcher: Model | string;
  readonly writer: Model | string;
}): SequentialAgent {
  const weather = new FunctionTool({
    name: 'weather',
    description: 'Returns the weather of a city',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => ({ city, celsius: 10 + city.length }),
  });
  const researcher = new LlmAgent({
    name: 'researcher',
    model: models.researcher,
    instruction: 'Collect the facts of the trip.',
    tools: [weather],
    outputKey: 'facts',
  });
  const writer = new LlmAgent({
    name: 'writer',
    model: models.writer,
    instruction: 'Write a plan from these facts: {facts}',
  });
  return new SequentialAgent({ name: 'planner', subAgents: [researcher, writer] });
}

// MODEL=gemini-2.5-flash npm start, after npm install @ai-sdk/google and with GOOGLE_GENERATIVE_AI_API_KEY set
const model = process.env['MODEL'];
export const rootAgent = tripPlanner({
  researcher: model ?? researcherModel(),
  writer: model ?? writerModel(),
});
