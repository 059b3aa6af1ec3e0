import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { agent } from '../../src/agents/index.ts';
import { isFunctionResponsePart } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { importSession, openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import { CommandFolder } from '../cli/command-folder.ts';
import { QueueDispatchers } from './queue-dispatchers.ts';
import { reminder } from './reminder.ts';

test('an imported session with a call that was running continues behind a dispatcher, without running it again', async () => {
  const folder = new CommandFolder();
  const at = (name: string): string => join(folder.path, name);
  const runs: string[] = [];
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const createAgent = (place: string): ReturnType<typeof agent> =>
    agent({
      name: 'worker',
      model: new ScriptedModel(({ contents }) =>
        contents.at(-1)?.parts.some(isFunctionResponsePart) === true
          ? { text: 'Done.' }
          : { toolCalls: [{ name: 'pay' }] },
      ),
      tools: [
        tool({
          name: 'pay',
          description: 'Pays.',
          onCrash: 'unknown',
          execute: async () => {
            runs.push(place);
            started.resolve();
            if (place === 'source') await released.promise;
            return 'Paid.';
          },
        }),
      ],
    });
  const source = await openRuntime({ agents: [createAgent('source')], store: at('source.db') });
  await (await source.session('s')).send('Pay.').accepted;
  await started.promise;
  const exported = await folder.run([
    'export',
    's',
    '--store',
    at('source.db'),
    '--output',
    at('s.gz'),
  ]);
  assert.equal(exported.code, 0, exported.stderr.text);
  released.resolve();
  await source.close();

  const store = new MemoryStore();
  const queue = new QueueDispatchers();
  await using first = await openRuntime({
    agents: [createAgent('first')],
    store,
    dispatcher: queue.create(),
  });
  await using second = await openRuntime({
    agents: [createAgent('second')],
    store,
    dispatcher: queue.create(),
  });
  await importSession(at('s.gz'), store);
  const session = await first.session('s');
  const results: unknown[] = [];
  for await (const event of session.events()) {
    if (event.type === 'tool.result') results.push(event.outcome);
    if (event.type === 'turn.ended') break;
  }
  assert.deepEqual([results, runs], [['unknown'], ['source']]);
  assert.equal(await (await second.session('s')).send('Pay again.').text(), 'Done.');
  assert.equal(runs.length, 2);
});

test('an imported session that starts itself, and had not begun, begins without being opened', async () => {
  const folder = new CommandFolder();
  const file = join(folder.path, 's.gz');
  const createStarting = (): ReturnType<typeof agent> =>
    agent({ name: 'timed', model: new ScriptedModel([]), extensions: [reminder(0)] });
  const source = new QueueDispatchers();
  source.losesRequests = true;
  const before = await openRuntime({
    agents: [createStarting()],
    store: join(folder.path, 'source.db'),
    dispatcher: source.create(),
    onError: () => {},
  });
  await before.session('s');
  await before.close();
  const exported = await folder.run([
    'export',
    's',
    '--store',
    join(folder.path, 'source.db'),
    '--output',
    file,
  ]);
  assert.equal(exported.code, 0, exported.stderr.text);
  const store = new MemoryStore();
  const clock = new SimulatedClock(Date.now());
  await using _after = await openRuntime({
    agents: [createStarting()],
    store,
    clock,
    dispatcher: new QueueDispatchers().create(),
  });
  const { key } = await importSession(file, store);
  for (let seconds = 0; seconds < 30; seconds++) {
    clock.advance(1000);
    for (let n = 0; n < 20; n++) await setImmediate();
  }
  const row = await store.find(key);
  assert.ok(row !== undefined && row.head > 0);
});
