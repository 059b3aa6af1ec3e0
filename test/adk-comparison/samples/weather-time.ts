import { FunctionTool, LlmAgent } from '@google/adk';
import { Type } from './gemini-schema-names.ts';
import { z } from 'zod';

/**
 * Tells the weather and the time of a city, with a schema of zod and one of Gemini. Rebuilt from the description of the
 * quickstart in the documentation of ADK.
 */

const city = 'The name of the city.';

const getWeather = new FunctionTool({
  name: 'get_weather',
  description: 'Returns the weather of a city.',
  parameters: z.object({ city: z.string().describe(city) }),
  execute: ({ city: name }) =>
    name.toLowerCase() === 'new york'
      ? { status: 'success', report: 'Sunny, 25 degrees.' }
      : { status: 'error', error_message: `Nothing is known about ${name}.` },
});

const getCurrentTime = new FunctionTool({
  name: 'get_current_time',
  description: 'Returns the time of a city.',
  parameters: {
    type: Type.OBJECT,
    properties: {
      city: { type: Type.STRING, description: city },
      formats: { type: Type.ARRAY, items: { type: Type.STRING }, maxItems: '2' },
    },
    required: ['city'],
  },
  execute: (args) => ({ status: 'success', report: `It is noon: ${JSON.stringify(args)}` }),
});

export const rootAgent: LlmAgent = new LlmAgent({
  name: 'weather_time_agent',
  model: 'scripted',
  description: 'Answers questions about the time and the weather of a city.',
  instruction: 'Answer with the tools.',
  tools: [getWeather, getCurrentTime],
});
