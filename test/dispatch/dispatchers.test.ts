import { describe, it } from 'node:test';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { dispatcherCases, type DispatcherHarness } from './dispatcher-cases.ts';
import { QueueDispatchers } from './queue-dispatchers.ts';

const harnesses: Readonly<Record<string, () => DispatcherHarness>> = {
  'processes that look into the store': () => {
    const store = new MemoryStore();
    return { open: async (agents) => openRuntime({ agents, store }) };
  },
  'a queue that all processes share': () => {
    const store = new MemoryStore();
    const queue = new QueueDispatchers();
    return {
      open: async (agents) => openRuntime({ agents, store, dispatcher: queue.create() }),
    };
  },
  'a queue that one of the processes does not use': () => {
    const store = new MemoryStore();
    const queue = new QueueDispatchers();
    let opened = 0;
    return {
      open: async (agents) =>
        openRuntime({
          agents,
          store,
          ...(opened++ !== 1 && { dispatcher: queue.create() }),
        }),
    };
  },
};

for (const [name, create] of Object.entries(harnesses))
  describe(name, () => {
    for (const { title, run } of dispatcherCases) it(title, async () => run(create()));
  });
