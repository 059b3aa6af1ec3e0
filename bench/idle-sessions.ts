import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openRuntime, type Runtime, type Session } from '../src/index.ts';
import { withTemporaryFolder } from './with-temporary-folder.ts';
import { runTurn, twoToolAgent } from './two-tool-agent.ts';

export interface IdleSessions {
  readonly sessions: number;
  /** Bytes of the process above what it was before the first session, garbage collected. */
  readonly residentBytes: number;
  readonly heapBytes: number;
}

const AT_ONCE = 50;
/** So that compiled code, and the sessions that a runtime keeps ready, do not count. */
const WARM_UP = 2000;

/**
 * The memory that sessions hold which have done a turn and wait for the next one, every one with its handle held.
 * @throws Error without `--expose-gc`
 */
export async function measureIdleSessions({
  quick,
}: {
  readonly quick: boolean;
}): Promise<IdleSessions> {
  return withTemporaryFolder(async (folder) => {
    const sessions = quick ? 100 : 10_000;
    await using runtime = await openRuntime({
      agents: [twoToolAgent()],
      store: `sqlite:${join(folder, 'store.db')}`,
    });
    const rounds = quick ? 1 : 6;
    await openIdle(runtime, 'before', quick ? AT_ONCE : WARM_UP);
    const before = await memory(rounds);
    const held = await openIdle(runtime, 'idle', sessions);
    const after = await memory(rounds);
    return {
      sessions: held.length,
      residentBytes: after.resident - before.resident,
      heapBytes: after.heap - before.heap,
    };
  });
}

/** Longer than a store in memory waits before it packs journals, with the time to pack them. */
const PACKED_AFTER_MS = 10_000;

/**
 * The same for sessions in memory, whose journals are packed, without their handles.
 * @throws Error without `--expose-gc`
 */
export async function measureSessionsInMemory({
  quick,
}: {
  readonly quick: boolean;
}): Promise<IdleSessions> {
  const sessions = quick ? 100 : 100_000;
  const rounds = quick ? 1 : 3;
  await using runtime = await openRuntime({ agents: [twoToolAgent()] });
  await openIdle(runtime, 'before', quick ? AT_ONCE : WARM_UP);
  if (!quick) await delay(PACKED_AFTER_MS);
  const before = await memory(rounds);
  for (let n = 0; n < sessions; n += WARM_UP)
    await openIdle(runtime, `idle-${n}`, Math.min(WARM_UP, sessions));
  if (!quick) await delay(PACKED_AFTER_MS);
  const after = await memory(rounds);
  return {
    sessions,
    residentBytes: after.resident - before.resident,
    heapBytes: after.heap - before.heap,
  };
}

async function openIdle(
  runtime: Runtime,
  prefix: string,
  count: number,
): Promise<readonly Session[]> {
  const opened: Session[] = [];
  while (opened.length < count) {
    const ids = Array.from({ length: AT_ONCE }, (_, index) => `${prefix}-${opened.length + index}`);
    opened.push(
      ...(await Promise.all(
        ids.map(async (id) => {
          const session = await runtime.session(id);
          await runTurn(session);
          return session;
        }),
      )),
    );
  }
  return opened;
}

/** What the process holds when all that can be given back was: by the runtime, which lets go of what rests, and by the heap. */
async function memory(
  rounds: number,
): Promise<{ readonly resident: number; readonly heap: number }> {
  if (globalThis.gc === undefined) throw new Error('Run this with --expose-gc.');
  for (let round = 0; round < rounds; round++) {
    await delay(250);
    await globalThis.gc({ type: 'major', execution: 'async', flavor: 'last-resort' });
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, heap: heapUsed + external };
}
