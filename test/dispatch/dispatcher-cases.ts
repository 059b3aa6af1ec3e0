import assert from 'node:assert/strict';
import { agent, agentTool } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { contentText, isFunctionResponsePart } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';

/** Opens runtimes, as one process each, that share a store and drive its sessions in one way. */
export interface DispatcherHarness {
  open(agents: readonly Agent[]): Promise<Runtime>;
}

export interface DispatcherCase {
  readonly title: string;
  readonly run: (harness: DispatcherHarness) => Promise<void>;
}

/** What holds for every way to decide which process drives a session. */
export const dispatcherCases: readonly DispatcherCase[] = [
  {
    title: 'messages through every process are answered once, and each call runs once',
    run: async (harness) => {
      const runs: string[] = [];
      const runtimes = await openThree(harness, () => [worker(runs)]);
      const sent = Array.from({ length: 12 }, async (_, index) => {
        const runtime = runtimes[index % runtimes.length];
        assert.ok(runtime);
        const session = await runtime.session(`s${index}`);
        await Promise.all([
          session.send(`work ${index}-a`).accepted,
          session.send(`work ${index}-b`).accepted,
        ]);
        return readTurns(session.events(), 2);
      });
      for (const events of await Promise.all(sent)) {
        const reasons = events.flatMap((event) =>
          event.type === 'turn.ended' ? event.stopReason : [],
        );
        assert.deepEqual(reasons, ['end_turn', 'end_turn']);
      }
      const expected = Array.from({ length: 12 }, (_, n) => [`${n}-a`, `${n}-b`]).flat();
      assert.deepEqual(runs.toSorted(), expected.toSorted());
      await closeAll(runtimes);
    },
  },
  {
    title: 'an interrupt through any process ends a call that runs',
    run: async (harness) => {
      const started = Promise.withResolvers<void>();
      const wait = tool({
        name: 'work',
        description: 'Never ends by itself.',
        parameters: { type: 'object', properties: { text: { type: 'string' } } },
        execute: async (_, { signal }) => {
          started.resolve();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          });
        },
      });
      const runtimes = await openThree(harness, () => [
        agent({ name: 'worker', model: model(), tools: [wait] }),
      ]);
      const [first, ...others] = await Promise.all(
        runtimes.map(async (runtime) => runtime.session('s')),
      );
      assert.ok(first);
      const turn = readTurns(first.events(), 1);
      await first.send('work forever').accepted;
      await started.promise;
      await others.at(-1)?.interrupt();
      const ended = (await turn).find(({ type }) => type === 'turn.ended');
      assert.equal(ended?.type === 'turn.ended' && ended.stopReason, 'interrupted');
      await closeAll(runtimes);
    },
  },
  {
    title: 'a timer of a session without an owner fires once',
    run: async (harness) => {
      const runtimes = await openThree(harness, () => [
        agent({
          name: 'worker',
          model: model(),
          tools: [tool({ name: 'work', description: 'Asks people.', timeoutMs: 40 })],
        }),
      ]);
      const [runtime] = runtimes;
      assert.ok(runtime);
      const session = await runtime.session('s');
      const turn = readTurns(session.events(), 1);
      await session.send('work and wait').accepted;
      const results = (await turn).filter(({ type }) => type === 'tool.result');
      assert.equal(results.length, 1);
      await closeAll(runtimes);
    },
  },
  {
    title: 'a process that drains hands over its sessions, and others go on',
    run: async (harness) => {
      const runs: string[] = [];
      const runtimes = await openThree(harness, () => [worker(runs)]);
      const [draining, , other] = runtimes;
      assert.ok(draining !== undefined && other !== undefined);
      const before = await draining.session('s');
      const first = readTurns(before.events(), 1);
      await before.send('work 1').accepted;
      await first;
      await draining.drain();
      const session = await other.session('s');
      const both = readTurns(session.events(), 2);
      await session.send('work 2').accepted;
      await both;
      assert.deepEqual(runs, ['1', '2']);
      // A process that drains takes messages; another one does the work.
      const third = readTurns(session.events(), 3);
      await before.send('work 3').accepted;
      await third;
      assert.deepEqual(runs, ['1', '2', '3']);
      await closeAll(runtimes);
    },
  },
  {
    title: 'a called agent is driven, and its caller goes on',
    run: async (harness) => {
      const runs: string[] = [];
      const runtimes = await openThree(harness, () => [
        agent({
          name: 'caller',
          model: new ScriptedModel(({ contents }) =>
            contents.at(-1)?.parts.some(isFunctionResponsePart) === true
              ? { text: 'Done.' }
              : { toolCalls: [{ name: 'worker', args: { request: 'work called' } }] },
          ),
          tools: [agentTool(worker(runs))],
        }),
      ]);
      const [runtime] = runtimes;
      assert.ok(runtime);
      const session = await runtime.session('s', { agent: 'caller' });
      const turn = readTurns(session.events(), 1);
      await session.send('Call it.').accepted;
      const ended = (await turn).find(({ type }) => type === 'turn.ended');
      assert.equal(ended?.type === 'turn.ended' && ended.stopReason, 'end_turn');
      assert.deepEqual(runs, ['called']);
      await closeAll(runtimes);
    },
  },
  {
    title: 'a fork and a rewind through any process continue where they say',
    run: async (harness) => {
      const runs: string[] = [];
      const runtimes = await openThree(harness, () => [worker(runs)]);
      const [first, ...others] = await Promise.all(
        runtimes.map(async (runtime) => runtime.session('s')),
      );
      assert.ok(first);
      const both = readTurns(first.events(), 2);
      await first.send('work 1').accepted;
      await readTurns(first.events(), 1);
      await first.send('work 2').accepted;
      const log = await both;
      const end = log.find(({ type }) => type === 'turn.ended');
      assert.ok(end);
      const copy = await others.at(-1)?.fork({ id: 'copy', upTo: end.seq });
      assert.ok(copy);
      const copied = readTurns(copy.events(), 2);
      await copy.send('work copy').accepted;
      await copied;
      const turns = log.flatMap((event) =>
        event.type === 'turn.started' ? event.invocationId : [],
      );
      await others[0]?.rewind({ beforeInvocationId: turns[1] ?? assert.fail() });
      const third = readTurns(first.events(), 3);
      await first.send('work 3').accepted;
      const types = (await third).map(({ type }) => type);
      assert.ok(types.indexOf('session.rewound') < types.lastIndexOf('turn.started'));
      assert.deepEqual(runs, ['1', '2', 'copy', '3']);
      await closeAll(runtimes);
    },
  },
];

async function openThree(
  harness: DispatcherHarness,
  agents: () => readonly Agent[],
): Promise<readonly Runtime[]> {
  const runtimes: Runtime[] = [];
  for (let n = 0; n < 3; n++) runtimes.push(await harness.open(agents()));
  return runtimes;
}

async function closeAll(runtimes: readonly Runtime[]): Promise<void> {
  for (const runtime of runtimes) await runtime.close();
}

/** `work X` calls the tool with X, and then answers. */
function model(): ScriptedModel {
  return new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    if (last?.parts.some(isFunctionResponsePart) === true) return { text: 'Done.' };
    return {
      toolCalls: [{ name: 'work', args: { text: contentText(last).replace('work ', '') } }],
    };
  });
}

function worker(runs: string[]): Agent {
  const work = tool({
    name: 'work',
    description: 'Works.',
    parameters: { type: 'object', properties: { text: { type: 'string' } } },
    execute: ({ text }) => {
      runs.push(String(text));
      return 'ok';
    },
  });
  return agent({ name: 'worker', description: 'Works.', model: model(), tools: [work] });
}

/** Reads the log until this many turns have ended. */
async function readTurns(
  events: AsyncIterable<LogEvent | { readonly type: string }>,
  turns: number,
): Promise<readonly LogEvent[]> {
  const read: LogEvent[] = [];
  for await (const event of events) {
    if (!('seq' in event)) continue;
    read.push(event);
    if (read.filter(({ type }) => type === 'turn.ended').length === turns) break;
  }
  return read;
}
