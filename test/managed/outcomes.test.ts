import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { Model } from '../../src/models/index.ts';
import { playUntil, userMessage, openManagedFixture } from './managed-fixture.ts';
import type { ManagedFixture, ManagedFixtureOptions } from './managed-fixture.ts';

const needsRevision = (explanation: string): { readonly text: string } => ({
  text: JSON.stringify({ result: 'needs_revision', explanation }),
});
const satisfied = { text: 'Here it is: {"result": "satisfied", "explanation": "Good."}' };

/** Answers by the number of calls so far, because each judgment is a separate conversation. */
function grader(...answers: readonly { readonly text: string }[]): ScriptedModel {
  const model: ScriptedModel = new ScriptedModel(
    () => answers[model.requests.length - 1] ?? satisfied,
  );
  return model;
}

const drafts = [{ text: 'Draft one.' }, { text: 'Draft two.' }, { text: 'Draft three.' }];

async function openWithGrader(
  grading: Model,
  more: ManagedFixtureOptions = {},
): Promise<ManagedFixture> {
  return openManagedFixture(drafts, { grader: grading, ...more });
}

const listRounds = (log: readonly LogEvent[]): readonly string[] =>
  log.flatMap((event) => {
    if (event.type === 'outcome.evaluated')
      return [`${event.iteration} ${event.result}: ${event.explanation}`];
    return event.type === 'outcome.ended' ? [event.result] : [];
  });

test('work is revised with the feedback of the grader until it is satisfied', async () => {
  const gradingModel = grader(needsRevision('No title.'), needsRevision('No end.'), satisfied);
  await using on = await openWithGrader(gradingModel);
  await on.runtime.sendEvent(on.id, {
    type: 'user.define_outcome',
    description: 'A story.',
    rubric: { type: 'text', content: 'It has a title and an end.' },
  });
  const log = await on.until('turn.ended');
  assert.deepEqual(listRounds(log), [
    '1 needs_revision: No title.',
    '2 needs_revision: No end.',
    '3 satisfied: Good.',
    'satisfied',
  ]);
  assert.equal(log.filter(({ type }) => type === 'turn.started').length, 1);
  const prompts = on.model.requests.map(({ contents }) => JSON.stringify(contents));
  assert.match(prompts[0] ?? '', /A story/);
  assert.match(prompts[1] ?? '', /No title/);
  assert.match(prompts[2] ?? '', /No title.*No end/);
  assert.match(JSON.stringify(gradingModel.requests[0]), /It has a title and an end.*Draft one/);
  assert.equal(await on.status(), 'idle');
});

test('an outcome ends after max_iterations rounds', async () => {
  const gradingModel = grader(needsRevision('a'), needsRevision('b'), needsRevision('c'));
  await using on = await openWithGrader(gradingModel);
  await on.runtime.sendEvent(on.id, {
    type: 'user.define_outcome',
    description: 'A story.',
    max_iterations: 2,
  });
  const log = await on.until('turn.ended');
  assert.deepEqual(listRounds(log), [
    '1 needs_revision: a',
    '2 needs_revision: b',
    'max_iterations_reached',
  ]);
  assert.equal(on.model.requests.length, 2);
});

test('criteria apply to the next message, and a satisfied outcome completes the session if requested', async () => {
  await using on = await openWithGrader(grader(satisfied));
  await on.runtime.sendEvent(on.id, {
    type: 'user.define_outcome',
    criteria: 'It is short.',
    complete_when_satisfied: true,
  });
  await on.until('outcome.defined');
  assert.equal(on.model.requests.length, 0);
  await on.send('Write.');
  await on.until('session.completed');
  assert.deepEqual(listRounds(await on.log()), ['1 satisfied: Good.', 'satisfied']);
  assert.equal(await on.status(), 'completed');
});

test('an interrupt during grading ends the outcome, and the session continues', async () => {
  const slow = new ScriptedModel(() => ({ ...satisfied, delayMs: 60_000 }));
  await using on = await openWithGrader(slow);
  await on.runtime.sendEvent(on.id, { type: 'user.define_outcome', description: 'A story.' });
  await on.until('agent.message');
  while (slow.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await on.runtime.interrupt(on.id);
  const log = await on.until('turn.ended');
  assert.deepEqual(listRounds(log), ['interrupted']);
  await on.send('And now?');
  await on.until('turn.ended', log.length);
  assert.equal(slow.requests.length, 1);
});

test('a new outcome replaces the current one', async () => {
  await using on = await openWithGrader(grader(satisfied));
  for (const criteria of ['Short.', 'Long.'])
    await on.runtime.sendEvent(on.id, { type: 'user.define_outcome', criteria });
  await on.until('outcome.ended');
  await on.send('Write.');
  const log = await on.until('turn.ended');
  assert.deepEqual(listRounds(log), ['replaced', '1 satisfied: Good.', 'satisfied']);
});

test('a grader without a verdict is retried, and then the outcome fails', async () => {
  const gradingModel = grader(...Array.from({ length: 9 }, () => ({ text: 'I like it.' })));
  await using on = await openWithGrader(gradingModel);
  await on.runtime.sendEvent(on.id, { type: 'user.define_outcome', description: 'A story.' });
  await on.until('agent.message');
  const log = await playUntil(on, 'turn.ended');
  assert.equal(gradingModel.requests.length, 4);
  assert.deepEqual(listRounds(log).slice(-1), ['failed']);
});

test('after a restart, the next process continues the round', async () => {
  const slowGrader = new ScriptedModel(() => ({ ...satisfied, delayMs: 60_000 }));
  const first = await openWithGrader(slowGrader);
  const { store } = first;
  await first.runtime.sendEvent(first.id, {
    type: 'user.define_outcome',
    description: 'A story.',
  });
  while (slowGrader.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await first.runtime.close();
  const gradingModel = grader(needsRevision('No title.'), satisfied);
  await using second = await openWithGrader(gradingModel, { store, sessionId: first.id });
  await second.runtime.status(second.id);
  const log = await second.until('turn.ended');
  assert.deepEqual(listRounds(log), [
    '1 needs_revision: No title.',
    '2 satisfied: Good.',
    'satisfied',
  ]);
  assert.equal(log.filter(({ type }) => type === 'agent.message').length, 2);
});

test('an outcome without exactly one goal, or with an invalid number of rounds, is rejected', async () => {
  await using on = await openWithGrader(grader());
  const invalidFields = [
    {},
    { criteria: 'a', description: 'b' },
    { criteria: 'a', max_iterations: 21 },
    { criteria: 'a', max_iterations: 0 },
  ];
  for (const fields of invalidFields) {
    const event = { type: 'user.define_outcome', ...fields };
    await assert.rejects(on.runtime.sendEvent(on.id, event), { code: 'invalid_input' });
  }
  assert.deepEqual(await on.types(), []);
  await on.runtime.sendEvent(on.id, userMessage('Hi'));
  await on.until('turn.ended');
});
