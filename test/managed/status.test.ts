import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IllegalTransitionError } from '../../src/managed/index.ts';
import type { ManagedStatus } from '../../src/managed/index.ts';
import { isManagedStatus } from '../../src/managed/interface/session-status.ts';
import type { ModelScript } from '../../src/models/index.ts';
import { deployTool, playUntil, userMessage, openManagedFixture } from './managed-fixture.ts';
import type { ManagedFixture } from './managed-fixture.ts';

const hello = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];
const deploys = [
  { toolCalls: [{ name: 'deploy', args: { target: 'prod' } }] },
  { text: 'Deployed.' },
];

test('the status changes from queued to running to idle, also in the stored row', async () => {
  await using on = await openManagedFixture([{ text: 'One.', delayMs: 20 }]);
  assert.equal(await on.status(), 'queued');
  await on.send('Hi');
  await on.until('turn.started');
  assert.equal(await on.status(), 'running');
  await on.until('turn.ended');
  assert.equal(await on.status(), 'idle');
});

test('a paused session starts no turn, and resume starts it', async () => {
  await using on = await openManagedFixture(hello);
  await on.runtime.pause(on.id);
  assert.equal(await on.status(), 'paused');
  await on.send('Hi');
  assert.deepEqual(await on.types(), ['session.paused']);
  await on.runtime.resume(on.id);
  await on.until('turn.ended');
  assert.deepEqual(await on.types(), [
    'session.paused',
    'session.resumed',
    'user.message',
    'turn.started',
    'agent.message',
    'turn.ended',
  ]);
});

test('a pause during a turn holds it before the next tool or model call', async () => {
  await using on = await openManagedFixture(deploys, { definition: { tools: [deployTool] } });
  await on.send('Deploy');
  const [wait] = (await on.until('turn.waiting')).filter(({ type }) => type === 'turn.waiting');
  await on.runtime.pause(on.id);
  const [call] = await on.runtime.pending(on.id);
  await on.runtime.sendEvent(on.id, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: call?.callId ?? '',
    content: [{ type: 'text', text: 'ok' }],
  });
  await on.until('tool.result', wait?.seq);
  assert.equal(on.model.requests.length, 1);
  assert.equal(await on.status(), 'paused');
  await on.runtime.resume(on.id);
  await on.until('turn.ended');
  assert.equal(on.model.requests.length, 2);
});

test('a paused session is still paused after a restart', async () => {
  const first = await openManagedFixture(hello);
  const { store } = first;
  await first.runtime.pause(first.id);
  await first.send('Hi');
  await first.runtime.close();
  await using second = await openManagedFixture(hello, { store, sessionId: first.id });
  second.clock.advance(60_000);
  assert.equal(await second.status(), 'paused');
  assert.equal(second.model.requests.length, 0);
  await second.runtime.resume(second.id);
  await second.until('turn.ended');
  assert.equal(second.model.requests.length, 1);
});

test('archiving stops the turn, is the last event of the log, and rejects later input', async () => {
  await using on = await openManagedFixture(deploys, { definition: { tools: [deployTool] } });
  await on.send('Deploy');
  await on.until('turn.waiting');
  await on.runtime.archive(on.id);
  const log = await on.log();
  assert.deepEqual(
    log.slice(-3).map(({ type }) => type),
    ['tool.result', 'turn.ended', 'session.archived'],
  );
  assert.equal(await on.status(), 'archived');
  await assert.rejects(on.send('More'), IllegalTransitionError);
  // A stream from any position ends.
  const rest: string[] = [];
  for await (const { type } of on.runtime.streamEvents(on.id, log.length - 1)) rest.push(type);
  for await (const { type } of on.runtime.streamEvents(on.id, log.length)) rest.push(type);
  assert.deepEqual(rest, ['status.archived']);
});

test('a message that waits when the session is archived starts no turn', async () => {
  await using on = await openManagedFixture(deploys, { definition: { tools: [deployTool] } });
  await on.send('Deploy');
  await on.until('turn.waiting');
  await on.send('And again');
  await on.runtime.archive(on.id);
  assert.equal((await on.types()).filter((type) => type === 'turn.started').length, 1);
});

test('a completed session accepts no message and can be archived', async () => {
  await using on = await openManagedFixture(hello);
  await on.send('Hi');
  await on.until('turn.ended');
  await on.runtime.complete(on.id);
  assert.equal(await on.status(), 'completed');
  await assert.rejects(on.send('More'), IllegalTransitionError);
  await assert.rejects(on.runtime.pause(on.id), IllegalTransitionError);
  await on.runtime.archive(on.id);
  assert.equal(await on.status(), 'archived');
});

test('deleting a session sends status.deleted to its streams and ends them', async () => {
  await using on = await openManagedFixture(hello);
  await on.send('Hi');
  await on.until('turn.ended');
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of on.runtime.streamEvents(on.id, 3)) types.push(type);
  })();
  await on.until('turn.ended');
  assert.equal(await on.runtime.deleteSession(on.id), true);
  await reading;
  assert.deepEqual(types, ['status.idle', 'status.deleted']);
  assert.equal(await on.runtime.deleteSession(on.id), false);
  await assert.rejects(on.send('More'), { code: 'session_not_found' });
});

/** How to bring a session to each status: the script of its model and the inputs. */
const STATUS_SETUPS: Readonly<
  Record<ManagedStatus, readonly [ModelScript, (on: ManagedFixture) => Promise<void>]>
> = {
  queued: [hello, async () => {}],
  running: [
    [{ text: 'Never.', delayMs: 600_000 }],
    async (on) => {
      await on.send('Hi');
      await on.until('turn.started');
    },
  ],
  rescheduling: [
    [{ text: '', error: { kind: 'overloaded' } }],
    async (on) => {
      await on.send('Hi');
      await on.until('turn.rescheduled');
    },
  ],
  idle: [
    hello,
    async (on) => {
      await on.send('Hi');
      await on.until('turn.ended');
    },
  ],
  paused: [hello, async (on) => on.runtime.pause(on.id)],
  failed: [
    [{ text: '', error: { kind: 'overloaded' } }],
    async (on) => {
      await on.send('Hi');
      await playUntil(on, 'turn.ended');
    },
  ],
  completed: [
    hello,
    async (on) => {
      await on.send('Hi');
      await on.until('turn.ended');
      await on.runtime.complete(on.id);
    },
  ],
  archived: [hello, async (on) => on.runtime.archive(on.id)],
};

const LEGAL_ACTIONS: Readonly<Record<ManagedStatus, readonly string[]>> = {
  queued: ['pause', 'archive', 'send'],
  running: ['pause', 'archive', 'send'],
  rescheduling: ['pause', 'archive', 'send'],
  idle: ['pause', 'complete', 'archive', 'send'],
  paused: ['resume', 'archive', 'send'],
  failed: ['resume', 'archive', 'send'],
  completed: ['archive'],
  archived: [],
};

const ACTIONS: Readonly<Record<string, (on: ManagedFixture) => Promise<void>>> = {
  pause: async (on) => on.runtime.pause(on.id),
  resume: async (on) => on.runtime.resume(on.id),
  complete: async (on) => on.runtime.complete(on.id),
  archive: async (on) => on.runtime.archive(on.id),
  send: async (on) => on.send('And?'),
};

for (const [status, [script, setUp]] of Object.entries(STATUS_SETUPS)) {
  for (const [action, act] of Object.entries(ACTIONS)) {
    const isLegal = isManagedStatus(status) && LEGAL_ACTIONS[status].includes(action);
    test(`${action} is ${isLegal ? 'allowed' : 'rejected'} when ${status}`, async () => {
      await using on = await openManagedFixture(script);
      await setUp(on);
      assert.equal(await on.status(), status);
      const before = await on.types();
      if (isLegal) {
        await act(on);
        return;
      }
      await assert.rejects(act(on), { code: 'illegal_transition', status });
      assert.deepEqual(await on.types(), before);
      assert.equal(await on.status(), status);
    });
  }
}

test('an action that became illegal in the meantime is logged as an error', async () => {
  await using on = await openManagedFixture(hello);
  // Two concurrent pauses: each saw a session that could be paused.
  const results = await Promise.allSettled([on.runtime.pause(on.id), on.runtime.pause(on.id)]);
  assert.ok(results.some(({ status }) => status === 'fulfilled'));
  assert.deepEqual(await on.types(), ['session.paused', 'error']);
  assert.equal(await on.status(), 'paused');
  await on.runtime.sendEvent(on.id, userMessage('held'));
  await on.runtime.resume(on.id);
  await on.until('turn.ended');
});
