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

test('a session is queued, then running, then idle, and its row says so', async () => {
  await using on = await openManagedFixture([{ text: 'One.', delayMs: 20 }]);
  assert.equal(await on.status(), 'queued');
  await on.send('Hi');
  await on.until('turn.started');
  assert.equal(await on.status(), 'running');
  await on.until('turn.ended');
  assert.equal(await on.status(), 'idle');
});

test('a pause holds what would begin, and a resume lets it go on', async () => {
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

test('a pause in the middle of a turn holds it before its next tool or model call', async () => {
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

test('a paused session is paused in the next process too', async () => {
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

test('archiving stops the turn, ends the log with its event, and refuses what comes after', async () => {
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
  // Read from any position, its stream ends.
  const rest: string[] = [];
  for await (const { type } of on.runtime.streamEvents(on.id, log.length - 1)) rest.push(type);
  for await (const { type } of on.runtime.streamEvents(on.id, log.length)) rest.push(type);
  assert.deepEqual(rest, ['status.archived']);
});

test('a message that is queued when a session is archived starts no turn', async () => {
  await using on = await openManagedFixture(deploys, { definition: { tools: [deployTool] } });
  await on.send('Deploy');
  await on.until('turn.waiting');
  await on.send('And again');
  await on.runtime.archive(on.id);
  assert.equal((await on.types()).filter((type) => type === 'turn.started').length, 1);
});

test('a completed session takes no message and can be archived', async () => {
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

test('a deleted session ends its streams with a last event', async () => {
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

/** How to bring a session into each status: the model's script and the inputs. */
const WAYS: Readonly<
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

const LEGAL: Readonly<Record<ManagedStatus, readonly string[]>> = {
  queued: ['pause', 'archive', 'say'],
  running: ['pause', 'archive', 'say'],
  rescheduling: ['pause', 'archive', 'say'],
  idle: ['pause', 'complete', 'archive', 'say'],
  paused: ['resume', 'archive', 'say'],
  failed: ['resume', 'archive', 'say'],
  completed: ['archive'],
  archived: [],
};

const MOVES: Readonly<Record<string, (on: ManagedFixture) => Promise<void>>> = {
  pause: async (on) => on.runtime.pause(on.id),
  resume: async (on) => on.runtime.resume(on.id),
  complete: async (on) => on.runtime.complete(on.id),
  archive: async (on) => on.runtime.archive(on.id),
  say: async (on) => on.send('And?'),
};

for (const [status, [script, go]] of Object.entries(WAYS)) {
  for (const [action, move] of Object.entries(MOVES)) {
    const isLegal = isManagedStatus(status) && LEGAL[status].includes(action);
    test(`${action} is ${isLegal ? 'possible' : 'refused'} when ${status}`, async () => {
      await using on = await openManagedFixture(script);
      await go(on);
      assert.equal(await on.status(), status);
      const before = await on.types();
      if (isLegal) {
        await move(on);
        return;
      }
      await assert.rejects(move(on), { code: 'illegal_transition', status });
      assert.deepEqual(await on.types(), before);
      assert.equal(await on.status(), status);
    });
  }
}

test('what is asked of a session that has moved meanwhile is refused in its log', async () => {
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
