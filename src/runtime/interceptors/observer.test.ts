import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import type { LogEvent } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { tool } from '../../tools/index.ts';
import { loggingObserver, recordingObserver } from './observer.ts';
import { openRuntime } from '../open-runtime.ts';

const talker = agent({
  name: 'talker',
  tools: [tool({ name: 'look', description: 'Looks.', readOnly: true, execute: () => 'seen' })],
  model: new ScriptedModel(({ contents }) =>
    contents.at(-1)?.role === 'user' ? { toolCalls: [{ name: 'look' }] } : { text: 'Done.' },
  ),
});

test('observers see every committed step in order, and together they see the whole journal', async () => {
  const lines: string[] = [];
  const record = recordingObserver();
  const order: string[] = [];
  const store = new MemoryStore();
  await using runtime = await openRuntime({
    agents: [talker],
    store,
    observers: [
      () => order.push('first'),
      record.observe,
      loggingObserver((line) => lines.push(line)),
      () => order.push('last'),
    ],
  });
  const session = await runtime.session('x');
  const log: LogEvent[] = [];
  for await (const event of session.send('go')) if ('seq' in event) log.push(event);
  const steps = [];
  for await (const { step, records, events } of store.steps(session.key, 0))
    steps.push({ key: session.key, step, records, events });
  assert.deepEqual(record.committed, steps);
  assert.deepEqual(
    record.committed.flatMap(({ events }) => events),
    log,
  );
  assert.deepEqual(
    order,
    steps.flatMap(() => ['first', 'last']),
  );
  assert.ok(lines.includes('x #4 started model.call'), lines.join('\n'));
  assert.equal(lines.length, steps.flatMap(({ records }) => records).length);
});

test('an observer that throws harms neither the session nor the other observers; onError gets the error', async () => {
  const errors: unknown[] = [];
  const record = recordingObserver();
  const fault = new Error('an observer’s own');
  await using runtime = await openRuntime({
    agents: [talker],
    observers: [
      () => {
        throw fault;
      },
      record.observe,
    ],
    onError: (error) => errors.push(error),
  });
  const session = await runtime.session('x');
  for await (const event of session.send('go'))
    if (event.type === 'turn.ended') assert.equal(event.stopReason, 'end_turn');
  assert.ok(record.committed.length > 0);
  assert.deepEqual(
    errors,
    record.committed.map(() => fault),
  );
});

test('an observer sees nothing that is not durable', async () => {
  const store = new MemoryStore({
    failpoints: {
      beforeCommit: () => {
        if (broken) throw new Error('the medium is gone');
      },
    },
  });
  let broken = false;
  const record = recordingObserver();
  const reported = Promise.withResolvers<void>();
  const runtime = await openRuntime({
    agents: [talker],
    store,
    observers: [record.observe],
    onError: () => reported.resolve(),
  });
  const session = await runtime.session('x');
  await session.send('go').accepted;
  broken = true;
  await reported.promise;
  const steps = [];
  for await (const { step } of store.steps(session.key, 0)) steps.push(step);
  assert.deepEqual(
    record.committed.map(({ step }) => step),
    steps,
  );
  broken = false;
  await runtime.close();
});

test('an onError that throws stops neither the session nor the process', async () => {
  const warned = once(process, 'warning');
  await using runtime = await openRuntime({
    agents: [talker],
    observers: [
      () => {
        throw new Error('bad observer');
      },
    ],
    onError: () => {
      throw new Error('bad onError');
    },
  });
  const session = await runtime.session('x');
  let stopReason: unknown;
  for await (const event of session.send('go'))
    if (event.type === 'turn.ended') ({ stopReason } = event);
  assert.equal(stopReason, 'end_turn');
  const [warning] = await warned;
  assert.equal(warning instanceof Error && warning.message, 'onError threw: bad onError');
});

test('a runtime whose onError throws still scans again after the store failed', async () => {
  const clock = new SimulatedClock(1_000);
  const scans: string[] = [];
  const store = new (class extends MemoryStore {
    override findRunnable: MemoryStore['findRunnable'] = async (query) => {
      scans.push('looked');
      if (scans.length === 2) throw new Error('no store today');
      return super.findRunnable(query);
    };
  })();
  await using runtime = await openRuntime({
    agents: [talker],
    store,
    clock,
    onError: () => {
      throw new Error('bad onError');
    },
  });
  for (let n = 0; n < 2; n++) {
    clock.advance(1500);
    await new Promise(setImmediate);
  }
  assert.deepEqual([scans.length, runtime.app], [3, 'petrichor']);
});
