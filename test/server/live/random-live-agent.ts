/** The agent of servers that are killed at random: long replies and calls of a tool that may not run twice, in turns. */
import { setTimeout as sleep } from 'node:timers/promises';
import { liveAgent, ScriptedLive } from '../../../src/live/index.ts';
import { tool } from '../../../src/tools/index.ts';
import type { Agent } from '../../../src/agents/index.ts';
import { SideEffects } from '../../crash/side-effects.ts';

const effects = new SideEffects(process.env['SIDE_EFFECTS'] ?? '', process.pid);
const story = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
  onCrash: 'unknown',
  execute: async ({ to }, { attempt, callId }) => {
    effects.note({ what: 'began', tool: 'pay', callId, attempt });
    await sleep(150);
    return { paid: to };
  },
});

export const assistant: Agent = liveAgent({
  name: 'assistant',
  model: new ScriptedLive({
    turns: Array.from({ length: 2_000 }, (_, index) =>
      index % 3 === 0
        ? { heard: 'Pay.', toolCalls: [{ id: `c${index}`, name: 'pay', args: { to: 'Ann' } }] }
        : { heard: 'Tell me more.', text: story, wordDelayMs: index % 3 === 1 ? 10 : 0 },
    ),
  }),
  tools: [pay],
});
