import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScriptedTurn } from '../../src/models/index.ts';
import { countingTool, playUntil, openManagedFixture } from './managed-fixture.ts';

const failing = (attempts: number, retryAfterMs?: number): readonly ScriptedTurn[] => [
  {
    text: 'Here.',
    error: {
      kind: 'overloaded',
      attempts,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  },
  { text: 'Next.' },
];

test('a temporary model error is retried, and meanwhile the status is rescheduling', async () => {
  await using on = await openManagedFixture(failing(2));
  await on.send('Hi');
  await on.until('turn.rescheduled');
  assert.equal(await on.status(), 'rescheduling');
  await playUntil(on, 'turn.ended');
  const log = await on.log();
  assert.deepEqual(
    log.map(({ type }) => type),
    [
      'user.message',
      'turn.started',
      'turn.rescheduled',
      'model.attempt',
      'turn.rescheduled',
      'model.attempt',
      'agent.message',
      'turn.ended',
    ],
  );
  assert.equal(await on.status(), 'idle');
});

test('the retry delay that the provider requests is used', async () => {
  await using on = await openManagedFixture(failing(1, 45_000));
  await on.send('Hi');
  const [rescheduled] = (await on.until('turn.rescheduled')).slice(-1);
  on.clock.advance(44_999);
  assert.equal(await on.status(), 'rescheduling');
  on.clock.advance(1);
  const [nextAttempt] = (await on.until('model.attempt')).slice(-1);
  assert.equal((nextAttempt?.at ?? 0) - (rescheduled?.at ?? 0), 45_000);
});

test('after all attempts failed the session fails, and resume retries the model call', async () => {
  await using on = await openManagedFixture(failing(4));
  await on.send('Hi');
  await playUntil(on, 'turn.ended');
  const log = await on.log();
  assert.equal(await on.status(), 'failed');
  const last = log.at(-1);
  assert.ok(last?.type === 'turn.ended' && last.stopReason === 'retries_exhausted');
  assert.equal(log.at(-2)?.type, 'error');
  assert.equal(log.filter(({ type }) => type === 'model.attempt').length, 3);
  await on.runtime.resume(on.id);
  // The script fails four attempts of each call.
  await playUntil(on, 'turn.ended', log.length);
  assert.equal(await on.status(), 'failed');
});

test('a message to a failed session starts a new turn and keeps the earlier message', async () => {
  await using on = await openManagedFixture((request) => {
    const contentsJson = JSON.stringify(request.contents);
    return contentsJson.includes('again')
      ? { text: 'Both.' }
      : { text: '', error: { kind: 'overloaded' } };
  });
  await on.send('Hi');
  await playUntil(on, 'turn.ended');
  assert.equal(await on.status(), 'failed');
  const { length } = await on.log();
  await on.send('Try again');
  await on.until('turn.ended', length);
  assert.equal(await on.status(), 'idle');
  assert.match(JSON.stringify(on.model.requests.at(-1)?.contents), /Hi.*Try again/);
});

test('a permanent model error ends the turn, and the session becomes idle', async () => {
  await using on = await openManagedFixture([{ text: '', error: { kind: 'auth' } }]);
  await on.send('Hi');
  await on.until('turn.ended');
  assert.equal(await on.status(), 'idle');
  assert.ok(!(await on.types()).includes('turn.rescheduled'));
});

test('a pause holds a pending retry, and an interrupt cancels it', async () => {
  await using on = await openManagedFixture(failing(1));
  await on.send('Hi');
  await on.until('turn.rescheduled');
  await on.runtime.pause(on.id);
  on.clock.advance(60_000);
  assert.equal(on.model.requests.length, 1);
  assert.equal(await on.status(), 'paused');
  await on.runtime.interrupt(on.id);
  await on.until('turn.ended');
  await on.runtime.resume(on.id);
  on.clock.advance(60_000);
  assert.equal(on.model.requests.length, 1);
  assert.equal(await on.status(), 'idle');
});

test('a turn that exceeds maxModelCalls ends with an error, and the session becomes idle', async () => {
  const repeatedCall = { toolCalls: [{ name: 'again', args: {} }] };
  await using on = await openManagedFixture(
    (request) =>
      JSON.stringify(request.contents.at(-1)).includes('Enough') ? { text: 'Yes.' } : repeatedCall,
    {
      maxModelCalls: 3,
      tools: [countingTool('again')],
      definition: { tools: [{ type: 'builtin', name: 'again' }] },
    },
  );
  await on.send('Go on');
  const log = await on.until('turn.ended');
  assert.equal(on.model.requests.length, 3);
  const [error, ended] = log.slice(-2);
  assert.ok(error?.type === 'error' && error.code === 'model_calls_spent');
  assert.ok(ended?.type === 'turn.ended' && ended.stopReason === 'budget_reached');
  assert.equal(await on.status(), 'idle');
  await on.send('Enough');
  await on.until('turn.ended', log.length);
  assert.equal(on.model.requests.length, 4);
});
