import { performance } from 'node:perf_hooks';
import type { Model } from '../src/index.ts';
import { InMemoryRunner, LlmAgent } from '../src/adk/index.ts';
import { median } from './statistics.ts';

/** What turns of one session cost through the Runner, when models are shown its latest events only. */
export interface RunnerTurns {
  readonly turns: number;
  /** Milliseconds a turn, of the turns before the hundredth and of the last ones. */
  readonly earlyMs: number;
  readonly lateMs: number;
  /** To read the session with its latest events, near its beginning and far on. */
  readonly earlyReadMs: number;
  readonly lateReadMs: number;
}

const WINDOW = 50;
const RECENT = { numRecentEvents: 20 } as const;

const model: Model = {
  name: 'scripted',
  generate: async () => ({
    content: { role: 'model', parts: [{ text: 'So it is, and so it was. '.repeat(8) }] },
    finishReason: 'stop',
  }),
};

/** A thousand turns of one session, in memory: nothing hides there what grows. */
export async function measureRunnerTurns({
  quick,
}: {
  readonly quick: boolean;
}): Promise<RunnerTurns> {
  const turns = quick ? 200 : 1000;
  await using runner = new InMemoryRunner({
    agent: new LlmAgent({ name: 'chat', model, instruction: 'Be brief.' }),
    appName: 'bench',
  });
  const address = { appName: 'bench', userId: 'u', sessionId: 's' };
  await runner.sessionService.createSession(address);
  const runConfig = { getSessionConfig: RECENT };
  const turnMs: number[] = [];
  const readMs: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const startedAt = performance.now();
    await runner.run({ ...address, newMessage: `Is it so? ${turn}`, runConfig });
    const ranAt = performance.now();
    const session = await runner.sessionService.getSession({ ...address, config: RECENT });
    if (session?.events.length !== Math.min(RECENT.numRecentEvents, 2 * (turn + 1)))
      throw new Error('A session did not come with its latest events.');
    turnMs.push(ranAt - startedAt);
    readMs.push(performance.now() - ranAt);
  }
  const early = (of: readonly number[]): number => median(of.slice(WINDOW, 2 * WINDOW));
  const late = (of: readonly number[]): number => median(of.slice(-WINDOW));
  return {
    turns,
    earlyMs: early(turnMs),
    lateMs: late(turnMs),
    earlyReadMs: early(readMs),
    lateReadMs: late(readMs),
  };
}
