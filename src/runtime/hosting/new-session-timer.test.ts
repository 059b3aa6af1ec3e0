import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, eventOut } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, initialToken, net, place, pure, upTo } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { SimulatedClock } from '../../testing/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { openRuntime } from '../open-runtime.ts';

const alarm: TokenPlace<null> = place('alarm');

/** Appends a log event one hour after the session was created. */
const reminder = net('reminder', {
  out: { eventOut },
  transitions: [
    pure('remind', {
      take: { alarm },
      after: 3_600_000,
      give: allOf({ events: upTo(1, eventOut) }),
      run: () => ({ events: [{ type: 'error', code: 'reminder', message: 'An hour is over.' }] }),
    }),
  ],
  initial: [initialToken(alarm, null)],
});

const timed = (extensions = [reminder]) =>
  agent({ name: 'timed', model: new ScriptedModel([]), extensions });

test('a timer of a new session starts at its creation, before any message', async () => {
  const clock = new SimulatedClock();
  await using runtime = await openRuntime({ agents: [timed()], clock });
  const session = await runtime.session('s');
  while ((await session.status()).head === 0) await new Promise(setImmediate);
  const { nextDueAt, createdAt } = await session.status();
  assert.equal(nextDueAt, createdAt + 3_600_000);
  clock.advance(3_600_000);
  for await (const event of session.events())
    if (event.type === 'error') {
      assert.equal(event.code, 'reminder');
      break;
    }
});

test('it also starts in a session that a batch creates without a message', async () => {
  const clock = new SimulatedClock();
  await using runtime = await openRuntime({ agents: [timed()], clock });
  const batch = runtime.batch();
  const session = await batch.session('s');
  await batch.submit();
  while ((await session.status()).head === 0) await new Promise(setImmediate);
});

test('it falls due in another process, when the creating process is gone', async () => {
  const clock = new SimulatedClock();
  const store = new MemoryStore();
  const first = await openRuntime({ agents: [timed()], clock, store });
  await first.session('s');
  await first.close();
  await using second = await openRuntime({ agents: [timed()], clock, store });
  clock.advance(3_600_000);
  const session = await second.find('s');
  for await (const event of session?.events() ?? []) if (event.type === 'error') break;
});

test('a new session of an agent without timers writes nothing before its first message', async () => {
  await using runtime = await openRuntime({ agents: [timed([])] });
  const session = await runtime.session('s');
  assert.equal((await session.status()).head, 0);
});
