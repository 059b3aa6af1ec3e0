import assert from 'node:assert/strict';
import { killAtCommit } from './kill-at-commit.ts';
import type { KillableOptions, Scenario } from './kill-at-commit.ts';

/** The events that a client of the scenario sees, with or without a kill. */
const WHOLE: readonly RegExp[] = [
  /status\.running/,
  /agent\.tool_use/,
  /agent\.custom_tool_use/,
  /agent\.message/,
  /status\.idle/,
  /status\.running/,
  /agent\.message/,
  /status\.idle/,
  /status\.archived/,
  /done/,
];

/** Each round is graded once, with or without a kill. */
const ROUNDS: readonly string[] = [
  'outcome.defined',
  'user.message',
  'turn.started',
  'agent.message Draft 1.',
  'outcome.evaluated 1 needs_revision',
  'agent.message Draft 2, longer.',
  'outcome.evaluated 2 needs_revision',
  'agent.message Draft 3, longer.',
  'outcome.evaluated 3 satisfied',
  'outcome.ended satisfied',
  'turn.ended',
  'session.completed',
  'done',
];

/**
 * Kills a process at a commit and checks the events. Returns false when there is no such commit.
 * @throws AssertionError
 */
export async function checkKill(
  scenario: Scenario,
  point: KillableOptions['point'],
  nth: number,
): Promise<boolean> {
  const { killed, seen, all } = await killAtCommit(scenario, point, nth);
  if (scenario === 'outcome') {
    assert.deepEqual(all.slice(0, seen.length), seen);
    assert.deepEqual(all, ROUNDS, `after a kill ${point} commit ${nth}`);
    return killed;
  }
  // The client sees the same events with the same numbers again.
  assert.deepEqual(all.slice(0, seen.length), seen);
  assert.equal(all.length, WHOLE.length, `after a kill ${point} commit ${nth}: ${all.join('; ')}`);
  for (const [index, line] of all.entries()) assert.match(line, WHOLE[index] ?? /none/);
  const numbers = all.slice(0, -1).map((line) => Number.parseInt(line, 10));
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(numbers).size, numbers.length);
  return killed;
}
