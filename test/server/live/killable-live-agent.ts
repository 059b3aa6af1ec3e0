/** The agent of servers that the test of live sessions kills: a long reply, then a call of a tool that may not run twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { liveAgent, ScriptedLive } from '../../../src/live/index.ts';
import { tool } from '../../../src/tools/index.ts';
import type { Agent } from '../../../src/agents/index.ts';
import { SideEffects } from '../../crash/side-effects.ts';

const effects = new SideEffects(process.env['SIDE_EFFECTS'] ?? '', process.pid);
const story = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
  onCrash: 'unknown',
  execute: async ({ to }, { attempt }) => {
    effects.note({ what: 'began', tool: 'pay', callId: String(to), attempt });
    await sleep(300);
    return { paid: to };
  },
});

const paid = Array.from({ length: 8 }, () => ({ heard: 'Thanks.', text: 'You are welcome.' }));

export const assistant: Agent = liveAgent({
  name: 'assistant',
  model: new ScriptedLive({
    turns: [
      { heard: 'Tell me a story.', text: story, wordDelayMs: 10 },
      { heard: 'Pay Ann.', toolCalls: [{ id: 'c1', name: 'pay', args: { to: 'Ann' } }] },
      ...paid,
    ],
  }),
  tools: [pay],
});
