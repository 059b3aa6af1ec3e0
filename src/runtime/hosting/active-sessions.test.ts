import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { SimulatedClock } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';
import type { AgentSource } from '../sources/agent-source.ts';

const echo = agent({
  name: 'echo',
  model: new ScriptedModel(({ contents }) => ({
    text: `You said ${contentText(contents.at(-1))}`,
  })),
});

const message = {
  place: 'user.in',
  value: {
    messageId: 'm',
    invocationId: 'e-m',
    content: { role: 'user', parts: [{ text: 'Hi' }] },
  },
} as const;

/** A source that waits in one search for its agent, if it is held. */
class SlowSource implements AgentSource {
  readonly #held = Promise.withResolvers<void>();
  readonly #asked = Promise.withResolvers<void>();
  #heldSearch = 0;
  #searches = 0;

  /** Holds the `nth` search from now on. */
  hold(nth: number): void {
    this.#heldSearch = this.#searches + nth;
  }

  /** Resolves when a held search has begun. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  release(): void {
    this.#held.resolve();
  }

  readonly open: AgentSource['open'] = async () => ({
    agents: [],
    find: async (name) => {
      if (++this.#searches === this.#heldSearch) {
        this.#asked.resolve();
        await this.#held.promise;
      }
      return name === 'echo' ? echo : undefined;
    },
  });
}

test('a message that arrives while the agent of its session is being found is answered at once', async () => {
  const store = new MemoryStore();
  const source = new SlowSource();
  // The clock stands still, so there is no later scan.
  await using runtime = await openRuntime({
    agents: [source],
    store,
    clock: new SimulatedClock(1_000_000),
  });
  const { key } = await runtime.session('x', { agent: 'echo' });
  const session = (await runtime.find('x')) ?? assert.fail();
  await new Promise(setImmediate);
  // Opens the session without a message: the first search is for the handle, the second for a claim.
  source.hold(2);
  const opening = runtime.session('x', { agent: 'echo' });
  await source.asked;
  await store.inject(key, message, 'message:m');
  await new Promise(setImmediate);
  source.release();
  await opening;
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
  assert.equal((await session.status()).status, 'idle');
});

test('a reader sees the end of a turn that another runtime on the same store runs, while its own runtime writes', async () => {
  const store = new MemoryStore();
  const written = Promise.withResolvers<void>();
  const writing = Promise.withResolvers<void>();
  const slow = new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(member, target, args);
        if (name !== 'inject') return call();
        writing.resolve();
        return written.promise.then(call);
      };
    },
  });
  const clock = new SimulatedClock(1_000_000);
  await using reading = await openRuntime({ agents: [echo], store: slow, clock });
  await using running = await openRuntime({ agents: [echo], store, clock });
  const session = await running.session('x');
  const seen = (await reading.find('x')) ?? assert.fail();
  const ended = (async () => {
    for await (const event of seen.events()) if (event.type === 'turn.ended') return;
  })();
  const sending = (await reading.session('y')).send('Hi').accepted;
  await writing.promise;
  for await (const _ of session.send('Hi'));
  await ended;
  written.resolve();
  await sending;
});

test('a session whose agent is not available is asked for at its messages, and by scans after half a minute', async () => {
  const store = new MemoryStore();
  const source = new SlowSource();
  {
    await using runtime = await openRuntime({ agents: [source], store });
    const { key } = await runtime.session('x', { agent: 'echo' });
    await runtime.close();
    await store.inject(key, message, 'message:m');
  }
  const clock = new SimulatedClock(1_000_000);
  let isAvailable = false;
  let finds = 0;
  const late: AgentSource = {
    open: async () => ({
      agents: [],
      find: async () => {
        finds++;
        return isAvailable ? echo : undefined;
      },
    }),
  };
  await using runtime = await openRuntime({ agents: [late], store, clock });
  const scan = async (times: number): Promise<void> => {
    for (let n = 0; n < times; n++) {
      clock.advance(500);
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    }
  };
  await scan(20);
  assert.equal(finds, 1);
  isAvailable = true;
  await scan(60);
  assert.equal(finds >= 2, true);
  const session = (await runtime.find('x')) ?? assert.fail();
  for await (const event of session.events()) if (event.type === 'turn.ended') break;
});
