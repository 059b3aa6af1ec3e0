import { allOf } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import {
  answerOut,
  response,
  sent,
  speculativeRace,
  withCachedDefault,
} from '../../examples/cases/nets/speculative-race.ts';
import {
  atMostOneCommits,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  neverFiresAfter,
  placeBound,
} from '../../src/verify/index.ts';
import type { Property } from '../../src/verify/index.ts';
import { withChanged, withoutInhibitor, withoutReset } from '../cases/net-mutations.ts';
import type { Claim, NetProof } from './net-proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const two = speculativeRace({ slow: never, fast: never });
const three = withCachedDefault(two, 'cached');
const bounds = { environment: { 'question.in': 2, 'interrupt.in': 1 } };
const one = { environment: { 'question.in': 1, 'interrupt.in': 1 }, faults: 0 };
const per = { per: 'question.in' };
const commitsOfTwo = ['slow.commit', 'fast.commit'];
const commitsOfThree = [...commitsOfTwo, 'cached.commit'];
const oneOfTwo = atMostOneCommits(commitsOfTwo, per);
const answered = eventuallyAnswered('race.begin', ['response.deliver', 'race.interrupt']);

const noneAfterInterrupt = (transitions: readonly string[]): Property =>
  neverFiresAfter(transitions, 'interrupt.in', { until: 'race.begin' });

const onlyOne = (transitions: readonly string[]): Claim => ({
  properties: [
    atMostOneCommits(transitions, per),
    placeBound(response.name, 1),
    placeBound(sent.name, 1),
    eventOutBounded(answerOut.name, 1, per),
  ],
  bounds,
});

const listMutants = (net: Net): NetProof['mutants'] => [
  {
    that: 'commits the fast answer without checking whether one was sent',
    net: withoutInhibitor(net, 'fast.commit', 'race.sent'),
    property: oneOfTwo,
    bounds,
    shows: /slow\.commit[^]*fast\.commit/,
  },
  {
    // Needed only if the delivery itself fails, because then nothing stops the slow path.
    that: 'commits the slow answer without checking whether one was sent',
    net: withoutInhibitor(net, 'slow.commit', 'race.sent'),
    property: oneOfTwo,
    bounds,
    shows: /faulted response\.deliver/,
  },
  {
    that: 'commits without setting the lock',
    net: withChanged(net, 'slow.commit', () => ({ give: allOf({ response }) })),
    property: oneOfTwo,
    bounds,
  },
  {
    that: 'is interrupted and forgets a path in flight',
    net: withoutReset(net, 'race.interrupt', 'running(slow.compute)'),
    property: noneAfterInterrupt(['slow.commit']),
    bounds,
    shows: /race\.interrupt[^]*slow\.commit/,
  },
];

export const raceOfTwoProof: NetProof = {
  name: 'case 3, race of two tiers',
  net: two,
  claims: [
    onlyOne(commitsOfTwo),
    {
      properties: [
        noneAfterInterrupt(commitsOfTwo),
        // If both paths fail, a race of two has no answer.
        deadlockFree(['race.sent', 'timer.expired']),
      ],
      bounds: { ...bounds, faults: 0 },
    },
  ],
  mutants: listMutants(two),
};

export const raceOfThreeProof: NetProof = {
  name: 'case 3, race of three tiers',
  net: three,
  claims: [
    onlyOne(commitsOfThree),
    { properties: [noneAfterInterrupt(commitsOfThree)], bounds: { ...bounds, faults: 0 } },
    { properties: [answered, deadlockFree(['race.sent'])], bounds: one },
  ],
  mutants: [
    ...listMutants(three),
    { that: 'has no third tier', net: two, property: answered, bounds: one },
  ],
};
