/** An agent that talks for seconds, as fast as a person listens to. */
import { liveAgent, ScriptedLive } from '../src/live/index.ts';
import type { Agent } from '../src/agents/index.ts';

const story = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');

export const assistant: Agent = liveAgent({
  name: 'assistant',
  model: new ScriptedLive({
    turns: Array.from({ length: 1_000 }, () => ({
      heard: 'Tell me more.',
      text: story,
      wordDelayMs: 20,
    })),
  }),
});
