import { openRuntime } from '../src/index.ts';
import { perSecond } from './per-second.ts';
import { median } from './statistics.ts';
import { runFreshTurn, twoToolAgent } from './two-tool-agent.ts';

export interface FreshSessions {
  readonly oneAtATime: number;
  readonly fiftyAtOnce: number;
}

const AT_ONCE = 50;

/** Turns a second in memory, each the first of a new session. */
export async function measureFreshSessions({
  quick,
}: {
  readonly quick: boolean;
}): Promise<FreshSessions> {
  const turns = quick ? 50 : 2000;
  const rounds = quick ? 1 : 5;
  const one: number[] = [];
  const fifty: number[] = [];
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    await using runtime = await openRuntime({ agents: [twoToolAgent()] });
    const alone = await perSecond(turns, async () => {
      for (let n = 0; n < turns; n++) await runFreshTurn(runtime, `alone-${n}`);
    });
    const together = await perSecond(turns, async () => {
      for (let n = 0; n < turns; n += AT_ONCE) {
        const batch = Array.from({ length: AT_ONCE }, (_, index) => `together-${n + index}`);
        await Promise.all(batch.map(async (id) => runFreshTurn(runtime, id)));
      }
    });
    if (round < 0) continue;
    one.push(alone);
    fifty.push(together);
  }
  return { oneAtATime: median(one), fiftyAtOnce: median(fifty) };
}
