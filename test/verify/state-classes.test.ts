/** Compares the search with libpetri's timed analysis on the shipped nets with timers. Their results must be equal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionControl } from '../../src/agents/index.ts';
import { appendedEvents } from '../../src/agents/internal.ts';
import { compile } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { omitAlternatives } from '../../src/net/internal.ts';
import { formatReport, placeBound, prove } from '../../src/verify/index.ts';
import type { Bounds, Property } from '../../src/verify/index.ts';
import { withoutInhibitor, withoutReset } from '../cases/net-mutations.ts';
import { agentProof } from '../proofs/agent.ts';
import { duplexSessionProof } from '../proofs/duplex-session.ts';
import type { NetProof } from '../proofs/net-proof.ts';
import { raceOfThreeProof, raceOfTwoProof } from '../proofs/speculative-race.ts';
import { toolDispatchProof } from '../proofs/subnets.ts';
import { computeStateClasses } from './state-classes.ts';

const MAX_CLASSES = 20_000;

interface Comparison {
  readonly proof: NetProof;
  /** Small bounds, because there are many state classes. */
  readonly bounds: Bounds;
  /** Leaves out what has too many state classes or priorities. */
  readonly reduce?: (net: Net) => Net;
  readonly mutants?: readonly { readonly net: Net; readonly property: Property }[];
}

/** A race whose lock is ignored and whose loser keeps running. */
const withoutLock = ({ net }: NetProof): Required<Comparison>['mutants'] => {
  const mutant = withoutReset(
    withoutInhibitor(net, 'fast.commit', 'race.sent'),
    'response.deliver',
    'running(fast.compute)',
  );
  return [{ net: mutant, property: placeBound('race.sent', 1) }];
};
const race = { environment: { 'question.in': 1, 'interrupt.in': 1 } };

const comparisons: readonly Comparison[] = [
  { proof: raceOfTwoProof, bounds: race, mutants: withoutLock(raceOfTwoProof) },
  { proof: raceOfThreeProof, bounds: race, mutants: withoutLock(raceOfThreeProof) },
  {
    proof: duplexSessionProof,
    bounds: { environment: { 'voice.started': 2, 'voice.stopped': 1, 'live.in': 2 } },
    mutants: duplexSessionProof.mutants.filter(({ that }) => that.endsWith('drops a permit')),
  },
  {
    proof: toolDispatchProof,
    bounds: {
      environment: { 'model.response': 1, 'turn.current': 1, 'answer.in': 1, 'turn.budget': 1 },
      upTo: 2,
      together: 2,
    },
    mutants: toolDispatchProof.mutants.filter(({ that }) => that.endsWith('a tool runs')),
  },
  {
    proof: agentProof,
    bounds: {
      environment: {
        'user.in': 1,
        'answer.in': 1,
        'interrupt.in': 0,
        'rewind.in': 0,
        'resume.in': 0,
      },
      upTo: 2,
      together: 1,
    },
    reduce: withoutControl,
    mutants: agentProof.mutants.filter(({ that }) => /still run|without the permit/.test(that)),
  },
];

/** The net of an agent whose session is not controlled, gets no events, and whose model calls are not repeated. */
function withoutControl(net: Net): Net {
  const control = new Set(
    [sessionControl(), appendedEvents()].flatMap((part) =>
      part.transitions.map(({ name }) => name),
    ),
  );
  const transitions = net.transitions
    .filter(({ name }) => !control.has(name))
    .map((t) => (t.name === 'model.call' ? omitAlternatives(t, 'again') : t));
  return { ...net, transitions };
}

function isOfMarkings({ kind }: Property): boolean {
  return ['placeBound', 'mutualExclusion', 'unreachable', 'deadlockFree'].includes(kind);
}

for (const { proof, bounds, mutants = [], reduce = (net: Net): Net => net } of comparisons) {
  test(`${proof.name}: state classes and the search have equal results`, async (t) => {
    const claimed = proof.claims.flatMap(({ properties }) => properties).filter(isOfMarkings);
    assert.ok(mutants.length > 0 && mutants.every(({ property }) => isOfMarkings(property)));
    const unchanged = { net: proof.net, properties: claimed, expected: 'proved' };
    const broken = mutants.map(({ net, property }) => ({
      net,
      properties: [property],
      expected: 'refuted',
    }));
    for (const { net: whole, properties, expected } of [unchanged, ...broken]) {
      const net = reduce(whole);
      const timed = computeStateClasses(compile(net), bounds, MAX_CLASSES);
      assert.ok(timed.count !== undefined, 'too many classes');
      const report = await prove(compile(net), {
        properties,
        bounds: { ...bounds, attempts: 1, faults: 0, shutdowns: false },
        route: 'search',
      });
      for (const { property, verdict } of report.results) {
        assert.equal(verdict, expected, formatReport(report));
        assert.equal(timed.breaks(property), expected === 'refuted', property.name);
      }
      const states = Math.max(...report.results.map((result) => result.states));
      t.diagnostic(`${properties.length} ${expected}: ${timed.count} classes, ${states} states`);
    }
  });
}

test('the full-duplex session has fewer than 256 state classes for one utterance and one message', (t) => {
  const bounds = { environment: { 'voice.started': 1, 'voice.stopped': 1, 'live.in': 1 } };
  const { count } = computeStateClasses(compile(duplexSessionProof.net), bounds, MAX_CLASSES);
  assert.ok(count !== undefined && count < 256, `${count} classes`);
  t.diagnostic(`${count} classes`);
});
