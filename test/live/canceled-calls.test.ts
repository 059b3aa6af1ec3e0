import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LiveScript } from '../../src/live/index.ts';
import { callCanceled } from '../../src/live/vocabulary/reply-places.ts';
import { hydrate } from '../../src/runtime/journal/hydrate.ts';
import { HeldTool } from './held-tool.ts';
import { talk } from './talk.ts';
import type { Talk } from './talk.ts';

const KEY = { appName: 'petrichor', userId: 'default', sessionId: 'demo' };

function scriptOf(names: readonly string[], cancelCallsAfterMs: number): LiveScript {
  const toolCalls = names.map((name, index) => ({ id: `c${index + 1}`, name }));
  return {
    turns: [
      { heard: 'Look it up.', toolCalls, cancelCallsAfterMs },
      { heard: 'Never mind.', text: 'All right.' },
      { heard: 'Bye.', text: 'Bye.' },
    ],
  };
}

async function listCancellationTokens({ store }: Talk): Promise<readonly string[]> {
  const { tokens } = await hydrate(store, KEY);
  return [...tokens].flatMap(([place, held]) =>
    held.length > 0 && /^call\.|^tool\./.test(place) ? [place] : [],
  );
}

function sentResults({ live }: Talk): readonly unknown[] {
  return live.commands.flatMap((command) =>
    command.kind === 'tool-result' ? command.results.map(({ callId }) => callId) : [],
  );
}

test('a call that the model cancels is stopped, and the turn ends without its result', async () => {
  const held = new HeldTool('find');
  await using one = await talk(scriptOf(['find'], 500), [held.tool]);
  await one.call.say(300);
  await one.call.pass(300);
  assert.equal(held.began, 1);
  await one.call.pass(700);
  assert.equal(held.stopped, 1);
  held.give();
  await one.call.pass(5_000);
  assert.deepEqual((await one.call.log()).slice(-2), ['tool: cancelled', 'ended: end_turn']);
  assert.deepEqual(sentResults(one), []);
  assert.deepEqual(await listCancellationTokens(one), []);
  await one.call.say(300);
  await one.call.pass(1_000);
  assert.deepEqual((await one.call.log()).slice(-3), [
    'user: Never mind.',
    'model: All right.',
    'ended: end_turn',
  ]);
});

test('speech that comes with the cancellation begins the next turn', async () => {
  const held = new HeldTool('find');
  await using one = await talk(scriptOf(['find'], 400), [held.tool]);
  await one.call.say(300);
  await one.call.pass(100);
  await one.call.say(600);
  await one.call.pass(2_000);
  const log = await one.call.log();
  assert.deepEqual(log.slice(log.indexOf('tool: cancelled')), [
    'tool: cancelled',
    'ended: end_turn',
    'turn.started',
    'user: Never mind.',
    'model: All right.',
    'ended: end_turn',
  ]);
  assert.deepEqual(
    one.live.commands.map(({ kind }) => kind),
    [],
  );
});

test('a call that waits for an approval is canceled, and cannot be approved any more', async () => {
  const held = new HeldTool('find', true);
  await using one = await talk(scriptOf(['find'], 500), [held.tool]);
  await one.call.say(300);
  await one.call.pass(300);
  const [pending] = await one.call.session.pending();
  assert.equal(pending?.name, 'find');
  await one.call.pass(1_000);
  assert.deepEqual(await one.call.session.pending(), []);
  assert.equal(held.began, 0);
  assert.deepEqual((await one.call.log()).slice(-4), [
    'turn.waiting',
    'turn.resumed',
    'tool: cancelled',
    'ended: end_turn',
  ]);
  assert.deepEqual(await listCancellationTokens(one), []);
});

test('of several calls only the results that the model still wants are sent', async () => {
  const find = new HeldTool('find');
  const rank = new HeldTool('rank');
  await using one = await talk(scriptOf(['find', 'rank'], 500), [find.tool, rank.tool]);
  await one.call.say(300);
  await one.call.pass(100);
  rank.give();
  await one.call.pass(1_000);
  assert.equal(find.stopped, 1);
  assert.deepEqual(sentResults(one), ['c2']);
  assert.equal(rank.stopped, 0);
  assert.deepEqual(await listCancellationTokens(one), []);
});

test('a cancellation after the result, or of an unknown call, changes nothing and leaves no token', async () => {
  const held = new HeldTool('find');
  await using one = await talk(scriptOf(['find'], 60_000), [held.tool]);
  await one.call.say(300);
  await one.call.pass(100);
  held.give();
  await one.call.pass(2_000);
  const before = await one.call.log();
  assert.deepEqual(before.slice(-3), ['tool: ok', 'model: All right.', 'ended: end_turn']);
  for (const callId of ['c1', 'nobody'])
    await one.call.session.inject(callCanceled, { callId }, { dedupeKey: `late ${callId}` });
  await one.call.pass(500);
  assert.deepEqual(await one.call.log(), before);
  assert.deepEqual(sentResults(one), ['c1']);
  assert.deepEqual(await listCancellationTokens(one), []);
});
