import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, eventOut } from '../../agents/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, initialToken, net, place, pure, upTo } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { MemoryStore } from '../../store/index.ts';
import { SimulatedClock } from '../../testing/index.ts';
import { tool } from '../../tools/index.ts';
import { openRuntime } from '../open-runtime.ts';

const HOUR_MS = 3_600_000;
const alarm: TokenPlace<null> = place('alarm');

/** Appends a log event one hour after the session was created. */
const reminder = net('reminder', {
  out: { eventOut },
  transitions: [
    pure('remind', {
      take: { alarm },
      after: HOUR_MS,
      give: allOf({ events: upTo(1, eventOut) }),
      run: () => ({ events: [{ type: 'error', code: 'reminder', message: 'An hour is over.' }] }),
    }),
  ],
  initial: [initialToken(alarm, null)],
});

test('a timer does not fire early after a closing runtime left a deferred start and the next clock is behind', async () => {
  const store = new MemoryStore();
  const started = Promise.withResolvers<void>();
  const slow = tool({
    name: 'slow',
    description: 'Ends on request.',
    execute: async (_, { signal }) => {
      started.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'Done.';
    },
  });
  const model = new ScriptedModel([
    { toolCalls: [{ name: 'slow' }] },
    { text: 'It is done.' },
    { text: 'I am.' },
  ]);
  const agents = [agent({ name: 'timed', model, tools: [slow], extensions: [reminder] })];
  const first = await openRuntime({ agents, store, clock: new SimulatedClock(9_000_000) });
  await (await first.session('s')).send('Go.').accepted;
  await started.promise;
  await first.close();
  const clock = new SimulatedClock(8_999_950);
  await using second = await openRuntime({ agents, store, clock });
  const session = await second.session('s');
  await session.send('Are you there?').accepted;
  let ended = 0;
  for await (const event of session.events()) {
    assert.notEqual(event.type === 'error' && event.code, 'reminder');
    if (event.type === 'turn.ended' && ++ended === 2) break;
  }
  const { nextDueAt } = await session.status();
  assert.equal(nextDueAt, 8_999_950 + HOUR_MS);
});
