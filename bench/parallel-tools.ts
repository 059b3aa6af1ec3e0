import { setTimeout as delay } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import { openRuntime } from '../src/index.ts';
import { median } from './statistics.ts';
import { runFreshTurn, twoToolAgent } from './two-tool-agent.ts';

export interface ParallelTools {
  /** Of a turn that calls two tools at once, each of which takes `toolMs`. */
  readonly turnMs: number;
  readonly toolMs: number;
}

const TOOL_MS = 100;

export async function measureParallelTools({
  quick,
}: {
  readonly quick: boolean;
}): Promise<ParallelTools> {
  const turns: number[] = [];
  await using runtime = await openRuntime({
    agents: [twoToolAgent({ work: async () => delay(TOOL_MS) })],
  });
  for (let round = quick ? 0 : -1; round < (quick ? 1 : 15); round++) {
    const startedAt = performance.now();
    await runFreshTurn(runtime, `session-${round}`);
    if (round >= 0) turns.push(performance.now() - startedAt);
  }
  return { turnMs: median(turns), toolMs: TOOL_MS };
}
