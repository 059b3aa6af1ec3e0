import { performance } from 'node:perf_hooks';
import { agent, openRuntime } from '../src/index.ts';
import type { Model } from '../src/index.ts';
import { median } from './statistics.ts';

export interface Deltas {
  readonly deltasPerSecond: number;
}

/** Deltas that come in one packet of a provider's stream. */
const IN_PACKET = 50;
const DELTA = ' word';

/** Deltas a second from a model that streams as fast as it is heard to someone who iterates the turn. Every delta must arrive. */
export async function measureDeltas({ quick }: { readonly quick: boolean }): Promise<Deltas> {
  const deltas = quick ? 1000 : 100_000;
  const rates: number[] = [];
  await using runtime = await openRuntime({
    agents: [agent({ name: 'talker', model: talker(deltas) })],
  });
  for (let round = quick ? 0 : -1; round < (quick ? 1 : 5); round++) {
    const session = await runtime.session(`session-${round}`);
    let seen = 0;
    let firstAt = 0;
    let lastAt = 0;
    for await (const event of session.send('Talk.')) {
      if (event.type !== 'partial') continue;
      if (seen++ === 0) firstAt = performance.now();
      lastAt = performance.now();
    }
    if (seen !== deltas) throw new Error(`${seen} of ${deltas} deltas arrived.`);
    if (round >= 0) rates.push((deltas - 1) / ((lastAt - firstAt) / 1000));
  }
  return { deltasPerSecond: median(rates) };
}

function talker(deltas: number): Model {
  return {
    name: 'talker',
    generate: async (_, { onDelta }) => {
      for (let n = 1; n <= deltas; n++) {
        onDelta({ kind: 'text', text: DELTA });
        if (n % IN_PACKET === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return {
        content: { role: 'model', parts: [{ text: DELTA.repeat(deltas) }] },
        finishReason: 'stop',
      };
    },
  };
}
