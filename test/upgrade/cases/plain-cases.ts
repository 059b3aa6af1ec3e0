import assert from 'node:assert/strict';
import { SimulatedClock } from '../../../src/net/index.ts';
import { openRuntime } from '../../../src/runtime/index.ts';
import type { Runtime, Session } from '../../../src/runtime/index.ts';
import { HOUR_MS, RELEASED_AT, releasedAgent, reminderAgent } from '../released-agents.ts';
import { countedTools, lastMessage, model, readUntil, toolOutcomes } from './released-case.ts';
import type { ReleasedCase } from './released-case.ts';

interface Opened {
  readonly session: Session;
  readonly clock: SimulatedClock;
  readonly ran: readonly string[];
  readonly runtime: Runtime;
}

const createCase = (
  id: string,
  what: string,
  check: (opened: Opened) => Promise<void>,
): ReleasedCase => ({
  name: `session, ${id}: ${what}`,
  check: async (open) => {
    const clock = new SimulatedClock(RELEASED_AT + 1_000);
    const { ran, tools } = countedTools();
    await using runtime = await openRuntime({
      agents: [releasedAgent(model, tools), reminderAgent(model)],
      store: await open('plain'),
      clock,
    });
    await check({ session: await runtime.session(id), clock, ran, runtime });
  },
});

export const plainCases: readonly ReleasedCase[] = [
  createCase(
    'idle',
    'answers the next message with the whole conversation',
    async ({ session }) => {
      await session.send('say three').accepted;
      const log = await readUntil(session.events(), 'turn.ended', 3);
      assert.equal(lastMessage(log), 'Heard 5 messages.');
    },
  ),

  createCase(
    'long',
    'continues from its snapshot with the whole conversation',
    async ({ session }) => {
      const before = (await session.status()).lastSeq;
      await session.send('say more').accepted;
      const log = await readUntil(session.events(before), 'turn.ended');
      assert.equal(lastMessage(log), 'Heard 71 messages.');
    },
  ),

  createCase('approval', 'runs the call once it is approved', async ({ session, ran }) => {
    const [call] = await session.pending();
    assert.equal(call?.needs, 'approval');
    await session.approve(call.id, { fingerprint: call.fingerprint }).accepted;
    const log = await readUntil(session.events(), 'turn.ended');
    assert.deepEqual(toolOutcomes(log), ['delete ok']);
    assert.equal(ran.filter((name) => name === 'delete').length, 1);
  }),

  createCase('result', 'accepts the result of its pending call', async ({ session }) => {
    const [call] = await session.pending();
    await session.answer(call?.id ?? '', { result: 'yes' }).accepted;
    const log = await readUntil(session.events(), 'turn.ended');
    assert.deepEqual(toolOutcomes(log), ['ask ok']);
  }),

  createCase('result', 'times out when its wait ends', async ({ session, clock }) => {
    clock.advance(HOUR_MS);
    const log = await readUntil(session.events(), 'turn.ended');
    assert.deepEqual(toolOutcomes(log), ['ask timeout']);
  }),

  createCase('timer', 'fires when it is due', async ({ session, clock }) => {
    const before = (await session.status()).lastSeq;
    clock.advance(HOUR_MS);
    const [changed] = (await readUntil(session.events(before), 'state.changed')).slice(-1);
    assert.deepEqual(changed?.type === 'state.changed' && changed.delta, { remindedOf: 'tea' });
  }),

  createCase('retry', 'calls the model again when the retry is due', async ({ session, clock }) => {
    clock.advance(30_000);
    const log = await readUntil(session.events(), 'turn.ended');
    assert.equal(lastMessage(log), 'Heard 1 messages.');
  }),

  createCase(
    'parallel',
    'applies the crash policy of each call in flight',
    async ({ session, ran }) => {
      await readUntil(session.events(), 'tool.result', 2);
      const [call] = await session.pending();
      await session.answer(call?.id ?? '', { result: 'yes' }).accepted;
      const log = await readUntil(session.events(), 'turn.ended');
      assert.deepEqual(toolOutcomes(log), ['ask ok', 'look ok', 'pay unknown']);
      assert.deepEqual(ran, ['look']);
    },
  ),

  createCase(
    'rewound',
    'continues from the point to which it was rewound',
    async ({ session, runtime }) => {
      const fork = await session.fork({ id: 'forked' });
      for (const one of [session, fork]) {
        const before = (await one.status()).lastSeq;
        await one.send('say three').accepted;
        const log = await readUntil(one.events(before), 'turn.ended');
        assert.equal(lastMessage(log), 'Heard 3 messages.');
      }
      assert.equal((await runtime.sessions()).length, 9);
    },
  ),
];
