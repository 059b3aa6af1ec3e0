/** Sessions during a call, in the states in which a process can leave them. */
import { liveAgent, ScriptedLive } from '../../src/live/index.ts';
import type { LiveScript } from '../../src/live/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import type { SimulatedClock } from '../../src/net/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { SimulatedCall } from '../live/simulated-call.ts';

/** When the sessions were left. */
export const LEFT_AT: number = Date.UTC(2026, 9, 1);

const again = Array.from({ length: 4 }, () => ({ heard: 'Again.', text: 'Once more.' }));
const story = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');

const pay = tool({
  name: 'pay',
  description: 'Pays.',
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
  needsApproval: true,
  execute: async ({ to }) => ({ paid: to }),
});

/** A session, and what happens in it until its process is killed. */
interface LeftSession {
  readonly name: string;
  readonly script: LiveScript;
  /** True if the model does not reply until the process is killed. */
  readonly isSilent?: boolean;
  readonly leave: (call: SimulatedCall) => Promise<void>;
}

/** The sessions, one for each agent of `liveAgents`. */
export const liveSessions: readonly LeftSession[] = [
  {
    name: 'idle',
    script: { turns: [{ heard: 'Hello?', text: 'Hi.' }, ...again] },
    leave: async (call) => {
      await call.say(300);
      await call.pass(2_000);
    },
  },
  {
    name: 'speaking',
    script: { turns: again },
    leave: async (call) => {
      await call.speak(300);
      await call.pass(100);
    },
  },
  {
    name: 'saying',
    script: { turns: [{ heard: 'Tell me all.', text: story, wordDelayMs: 300 }, ...again] },
    leave: async (call) => {
      await call.say(300);
      await call.pass(8_000);
    },
  },
  {
    name: 'approving',
    script: {
      turns: [
        { heard: 'Pay Ann.', toolCalls: [{ id: 'c1', name: 'pay', args: { to: 'Ann' } }] },
        { text: 'It is paid.' },
        ...again,
      ],
    },
    leave: async (call) => {
      await call.say(300);
      await call.pass(1_000);
    },
  },
  {
    name: 'asked',
    script: { turns: [{ heard: 'Hello?', text: 'Hi.' }, ...again] },
    isSilent: true,
    leave: async (call) => {
      await call.say(300);
      await call.pass(1_000);
    },
  },
  {
    name: 'replying',
    script: { turns: [{ heard: 'Tell me all.', text: story }, ...again] },
    leave: async (call) => {
      await call.say(300);
      await call.pass(1_000);
    },
  },
];

/** The agents of these sessions, before or after the process is killed. */
export function liveAgents(clock: SimulatedClock, when: 'before' | 'after'): readonly Agent[] {
  return liveSessions.map(({ name, script, isSilent = false }) => {
    const delayMs = isSilent && when === 'before' ? 600_000 : 0;
    const turns = script.turns.map((turn) => ({ ...turn, delayMs }));
    return liveAgent({ name, model: new ScriptedLive({ turns }, { clock }), tools: [pay] });
  });
}
