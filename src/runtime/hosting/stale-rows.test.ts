import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { isFunctionResponsePart } from '../../core/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { Runtime } from '../runtime.ts';

/** Answers of the store that arrive later than those of reads that began after them. */
class SlowReads {
  readonly store = new MemoryStore();
  /** The reads that are held; each function lets one continue. */
  readonly held: (() => void)[] = [];
  holds: 'find' | 'findRunnable' | 'none' = 'none';

  constructor() {
    const { store } = this;
    const find = store.find.bind(store);
    const findRunnable = store.findRunnable.bind(store);
    store.find = async (key) => this.#hold('find', await find(key));
    store.findRunnable = async (query) => this.#hold('findRunnable', await findRunnable(query));
  }

  async #hold<T>(read: 'find' | 'findRunnable', answer: T): Promise<T> {
    if (this.holds === read) await new Promise<void>((resolve) => this.held.push(resolve));
    return answer;
  }
}

interface Taken {
  readonly reads: SlowReads;
  readonly clock: SimulatedClock;
  readonly runtime: Runtime;
  readonly runs: string[];
  readonly endTool: () => void;
}

/** Opens a runtime, and leaves it a session with a message whose owner is gone. */
async function openWithOwnerless(): Promise<Taken> {
  const reads = new SlowReads();
  const { store } = reads;
  const clock = new SimulatedClock(1_000_000);
  const runs: string[] = [];
  const end = Promise.withResolvers<void>();
  const worker = agent({
    name: 'worker',
    model: new ScriptedModel(({ contents }) =>
      contents.at(-1)?.parts.some(isFunctionResponsePart) === true
        ? { text: 'Done.' }
        : { toolCalls: [{ name: 'work' }] },
    ),
    tools: [
      tool({
        name: 'work',
        description: 'Works.',
        onCrash: 'unknown',
        execute: async () => {
          runs.push('began');
          await end.promise;
          return 'ok';
        },
      }),
    ],
  });
  const runtime = await openRuntime({ agents: [worker], store, clock });
  const former = await openRuntime({
    agents: [worker],
    store,
    clock,
    dispatcher: { start: async () => {}, dispatch: async () => {}, close: async () => {} },
  });
  await (await former.session('s')).send('Work.').accepted;
  for (let n = 0; n < 20; n++) await setImmediate();
  reads.holds = 'findRunnable';
  await former.close();
  reads.holds = 'none';
  return { reads, clock, runtime, runs, endTool: end.resolve };
}

async function readResults({ runtime }: Taken): Promise<readonly string[]> {
  const outcomes: string[] = [];
  const events: AsyncIterable<LogEvent | { readonly type: string }> = (
    await runtime.session('s')
  ).events();
  for await (const event of events) {
    if (event.type === 'tool.result' && 'outcome' in event) outcomes.push(event.outcome);
    if (event.type === 'turn.ended') break;
  }
  return outcomes;
}

for (const read of ['findRunnable', 'find'] as const)
  test(`a session that was claimed while ${read} had read its former owner goes on`, async () => {
    const taken = await openWithOwnerless();
    const { reads, clock, runtime, runs } = taken;
    reads.holds = read;
    const found = read === 'find' ? runtime.find('s') : undefined;
    if (read === 'findRunnable') clock.advance(1500);
    while (reads.held.length === 0) await setImmediate();
    reads.holds = 'none';
    await runtime.session('s');
    while (runs.length === 0) await setImmediate();
    for (const resolve of reads.held) resolve();
    await found;
    for (let n = 0; n < 50; n++) await setImmediate();
    taken.endTool();
    assert.deepEqual([await readResults(taken), runs], [['ok'], ['began']]);
    await runtime.close();
  });
