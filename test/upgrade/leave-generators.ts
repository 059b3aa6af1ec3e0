import { setTimeout } from 'node:timers/promises';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Store } from '../../src/store/index.ts';
import { RELEASED_AT } from './released-agents.ts';
import { flowAgent, guideAgent, helperModel } from './released-generators.ts';

/** Leaves sessions of a custom agent and of a workflow in the middle of their turns. */
export async function leaveGenerators(store: Store): Promise<void> {
  const clock = new SimulatedClock(RELEASED_AT);
  let heldAt = '';
  let isDown = false;
  const reach = async (place: string): Promise<void> => {
    isDown = place === 'guide';
    if (place === heldAt) await new Promise(() => {});
  };
  const agents = [
    guideAgent(
      helperModel(() => isDown),
      reach,
    ),
    flowAgent(reach),
  ];
  const runtime = await openRuntime({ agents, store, clock });
  const send = async (id: string, agent: string, text: string): Promise<void> => {
    await (await runtime.session(id, { agent })).send(text).accepted;
    // Long enough for all work that does not wait for the simulated clock.
    await setTimeout(250);
  };
  heldAt = 'guide';
  await send('guide in a step', 'guide', 'Go');
  heldAt = '';
  isDown = false;
  await send('guide with a waiting sub-agent', 'guide', 'Go');
  heldAt = 'count';
  await send('flow in a step', 'flow', 'Go');
  heldAt = 'item b';
  await send('flow in a list', 'flow', 'Go');
  heldAt = '';
  await send('flow with a question', 'flow', 'Go');
}
