import assert from 'node:assert/strict';
import { openManagedRuntime } from '../../../src/managed/index.ts';
import type { ManagedRuntime } from '../../../src/managed/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { toBuiltIns, RELEASED_AT } from '../released-agents.ts';
import { countedTools, lastMessage, model, readUntil, toolOutcomes } from './released-case.ts';
import type { ReleasedCase } from './released-case.ts';

/** The default timeout of a managed session's wait for a result. */
const RESULT_TIMEOUT_MS = 300_000;

interface Opened {
  readonly id: string;
  readonly runtime: ManagedRuntime;
  readonly clock: SimulatedClock;
  readonly ran: readonly string[];
}

const createCase = (
  title: string,
  what: string,
  check: (opened: Opened) => Promise<void>,
): ReleasedCase => ({
  name: `managed session, ${title}: ${what}`,
  check: async (open) => {
    const clock = new SimulatedClock(RELEASED_AT + 1_000);
    const { ran, tools } = countedTools();
    await using runtime = await openManagedRuntime({
      store: await open('managed'),
      clock,
      resolver: async () => model,
      builtIns: toBuiltIns(tools),
    });
    const { data } = await runtime.listSessions();
    const session = data.find((one) => one.title === title);
    assert.ok(session);
    await check({ id: session.id, runtime, clock, ran });
  },
});

async function sendMessage(runtime: ManagedRuntime, id: string, text: string): Promise<void> {
  await runtime.sendEvent(id, { type: 'user.message', content: [{ type: 'text', text }] });
}

async function answer(runtime: ManagedRuntime, id: string): Promise<void> {
  const [call] = await runtime.pending(id);
  await runtime.sendEvent(id, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: call?.callId ?? '',
    content: [{ type: 'text', text: 'yes' }],
  });
}

export const managedCases: readonly ReleasedCase[] = [
  createCase(
    'idle',
    'answers the next message with the whole conversation',
    async ({ runtime, id }) => {
      await sendMessage(runtime, id, 'say two');
      const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended', 2);
      assert.equal(lastMessage(log), 'Heard 3 messages.');
    },
  ),

  createCase(
    'long',
    'continues from its snapshot with the whole conversation',
    async ({ runtime, id }) => {
      const { lastSeq } = await runtime.getSession(id);
      await sendMessage(runtime, id, 'say more');
      const log = await readUntil(runtime.streamLog(id, lastSeq), 'turn.ended');
      assert.equal(lastMessage(log), 'Heard 71 messages.');
    },
  ),

  createCase('approval', 'runs the call once it is confirmed', async ({ runtime, id, ran }) => {
    const [call] = await runtime.pending(id);
    assert.equal(call?.needs, 'approval');
    await runtime.sendEvent(id, {
      type: 'user.tool_confirmation',
      tool_use_id: call.callId,
      result: 'allow',
    });
    const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended');
    assert.deepEqual(toolOutcomes(log), ['delete ok']);
    assert.equal(ran.filter((name) => name === 'delete').length, 1);
  }),

  createCase('result', 'accepts the result of its pending call', async ({ runtime, id }) => {
    await answer(runtime, id);
    const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended');
    assert.deepEqual(toolOutcomes(log), ['ask ok']);
  }),

  createCase('result', 'times out when its wait ends', async ({ runtime, id, clock }) => {
    clock.advance(RESULT_TIMEOUT_MS);
    const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended');
    assert.deepEqual(toolOutcomes(log), ['ask timeout']);
  }),

  createCase(
    'retry',
    'calls the model again when the retry is due',
    async ({ runtime, id, clock }) => {
      assert.equal(await runtime.status(id), 'rescheduling');
      clock.advance(30_000);
      const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended');
      assert.equal(lastMessage(log), 'Heard 1 messages.');
    },
  ),

  createCase(
    'parallel',
    'applies the crash policy of each call in flight',
    async ({ runtime, id, ran }) => {
      await readUntil(runtime.streamLog(id, 0), 'tool.result', 2);
      await answer(runtime, id);
      const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended');
      assert.deepEqual(toolOutcomes(log), ['ask ok', 'look ok', 'pay unknown']);
      assert.deepEqual(ran, ['look']);
    },
  ),

  createCase('paused', 'stays paused until it is resumed', async ({ runtime, id }) => {
    assert.equal(await runtime.status(id), 'paused');
    await sendMessage(runtime, id, 'say two');
    await runtime.resume(id);
    const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended', 2);
    assert.equal(lastMessage(log), 'Heard 3 messages.');
  }),

  createCase('paused in a retry', 'retries once it is resumed', async ({ runtime, id, clock }) => {
    assert.equal(await runtime.status(id), 'paused');
    clock.advance(30_000);
    assert.equal(await runtime.status(id), 'paused');
    await runtime.resume(id);
    // The wait may start again.
    clock.advance(30_000);
    const log = await readUntil(runtime.streamLog(id, 0), 'turn.ended');
    assert.equal(lastMessage(log), 'Heard 1 messages.');
  }),

  createCase('archived', 'rejects input and can be read', async ({ runtime, id }) => {
    assert.equal(await runtime.status(id), 'archived');
    await assert.rejects(sendMessage(runtime, id, 'say two'));
    const log = await readUntil(runtime.streamLog(id, 0, { follow: false }), 'session.upgraded');
    assert.equal(lastMessage(log), 'Heard 1 messages.');
  }),

  createCase(
    'rewound',
    'continues from the point to which it was rewound',
    async ({ runtime, id }) => {
      const fork = await runtime.fork(id);
      for (const one of [id, fork.id]) {
        const { lastSeq } = await runtime.getSession(one);
        await sendMessage(runtime, one, 'say three');
        const log = await readUntil(runtime.streamLog(one, lastSeq), 'turn.ended');
        assert.equal(lastMessage(log), 'Heard 3 messages.');
      }
    },
  ),
];
