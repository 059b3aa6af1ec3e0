/** Runs the shipped nets on the executor with random outcomes and times. Every marking must be one that the search found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../src/net/index.ts';
import { allProofs } from '../proofs/all-proofs.ts';
import type { NetProof } from '../proofs/net-proof.ts';
import { runAtRandom } from './random-run.ts';

const RUNS = 30;
const MAX_STATES = 60_000;

/** One of each input of a smaller proof. Large nets get no input that stops them, because it can arrive in every state. */
function getEnvironment({ net, claims: [claim] }: NetProof): Readonly<Record<string, number>> {
  const { places, transitions } = compile(net);
  const bounds = (claim?.quick?.[0] ?? claim)?.bounds;
  const outside = [...places.values()].filter(({ environment }) => environment);
  const named = Object.entries(bounds?.environment ?? {});
  const tokenLimits = new Map([
    ...outside.map(({ name }): [string, number] => [name, 0]),
    ...named,
  ]);
  if (transitions.length > 25)
    for (const stop of ['interrupt.in', 'rewind.in']) tokenLimits.delete(stop);
  const stops = outside.filter(({ name }) => !tokenLimits.has(name));
  return Object.fromEntries([
    ...[...tokenLimits].map(([place, tokens]) => [place, Math.min(1, tokens)]),
    ...stops.map(({ name }) => [name, 0]),
  ]);
}

for (const proof of allProofs) {
  // A net with infinitely many states is proved by a solver, so there are no explored markings.
  if (proof.claims.some(({ route }) => route === 'solver')) continue;
  test(`${proof.name}: runs stay inside the explored markings`, () => {
    const bounds = { environment: getEnvironment(proof), upTo: 1, attempts: 1 };
    const result = runAtRandom(
      compile(proof.net),
      { ...bounds, faults: 0, shutdowns: false },
      RUNS,
      7,
      MAX_STATES,
    );
    assert.ok(result !== undefined, 'too many states');
    assert.deepEqual(result.outside, []);
    assert.ok(result.markings > RUNS, `${result.markings} markings`);
  });
}
