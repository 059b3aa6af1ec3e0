/** The search and libpetri's timed analysis, on the shipped nets that have timers: they must say the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from 'petrichor/net';
import type { Net } from 'petrichor/net';
import { placeBound, prove } from '../../src/verify/index.ts';
import type { Bounds, Property } from '../../src/verify/index.ts';
import { withoutInhibitor, withoutReset } from '../cases/mutant.ts';
import { duplexSessionProof } from '../proofs/duplex-session.ts';
import type { NetProof } from '../proofs/net-proof.ts';
import { raceOfThreeProof, raceOfTwoProof } from '../proofs/speculative-race.ts';
import { stateClassVerdict } from './state-classes.ts';

const MOST_CLASSES = 20_000;

interface Question {
  readonly net: Net;
  readonly property: Property;
  readonly bounds: Bounds;
}

const timed: readonly NetProof[] = [raceOfTwoProof, raceOfThreeProof, duplexSessionProof];

/** Once from each place of the environment: state classes are many. */
function onceEach({ environment = {} }: Bounds): Bounds {
  return { environment: Object.fromEntries(Object.keys(environment).map((name) => [name, 1])) };
}

function isOfMarkings({ kind }: Property): boolean {
  return ['placeBound', 'mutualExclusion', 'unreachable', 'deadlockFree'].includes(kind);
}

/** What is claimed of the net, and the mutants that a marking gives away without anything failing. */
function questionsOf({ net, claims, mutants }: NetProof): readonly Question[] {
  const claimed = claims.flatMap(({ properties, bounds }) =>
    properties.map((property) => ({ net, property, bounds: onceEach(bounds) })),
  );
  const broken = mutants.filter(({ bounds }) => bounds.faults === 0);
  return [...claimed, ...broken].filter(({ property }) => isOfMarkings(property));
}

const careless = (of: Net): Net =>
  withoutReset(
    withoutInhibitor(of, 'fast.commit', 'race.sent'),
    'response.deliver',
    'running(fast.compute)',
  );

const more: Readonly<Record<string, readonly Question[]>> = {
  [raceOfTwoProof.name]: [
    { net: careless(raceOfTwoProof.net), property: placeBound('race.sent', 1), bounds: {} },
  ],
  [raceOfThreeProof.name]: [
    { net: careless(raceOfThreeProof.net), property: placeBound('race.sent', 1), bounds: {} },
  ],
};

for (const proof of timed) {
  test(`${proof.name}: state classes say what the search says`, async (t) => {
    const said: string[] = [];
    for (const { net, property, bounds } of [...questionsOf(proof), ...(more[proof.name] ?? [])]) {
      const compiled = compile(net);
      const timed = stateClassVerdict(compiled, property, bounds, MOST_CLASSES);
      const { results } = await prove(compiled, {
        properties: [property],
        bounds: { ...bounds, faults: 0, shutdowns: false },
        route: 'search',
      });
      const [result] = results;
      const expected = { holds: 'proved', broken: 'refuted', 'too many classes': '' };
      assert.equal(result?.verdict, expected[timed.verdict], `${property.name}: ${timed.verdict}`);
      said.push(result.verdict);
      t.diagnostic(`${property.name}: ${result.verdict}, ${timed.classes} classes`);
    }
    assert.ok(said.includes('proved') && said.includes('refuted'), said.join());
  });
}
