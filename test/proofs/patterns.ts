import { allOf } from '../../src/net/index.ts';
import { optimisticCommit } from '../../examples/patterns/nets/optimistic-commit.ts';
import { decisionOut, quorum } from '../../examples/patterns/nets/quorum.ts';
import { answerOut, firstWins } from '../../examples/patterns/nets/speculative-race.ts';
import {
  atMostOneCommits,
  atMostOnce,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  mutualExclusion,
  placeBound,
} from '../../src/verify/index.ts';
import {
  readingInstead,
  withChanged,
  withoutInhibitor,
  withoutReset,
} from '../cases/net-mutations.ts';
import type { NetProof } from './net-proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const bounds = { environment: { 'question.in': 2 } };
const one = { environment: { 'question.in': 1 }, faults: 0 };
const per = { per: 'question.in' };

const race = firstWins({ a: never, b: never, c: never });
const raceCommitsOnce = atMostOnce('race.commit', per);
const losersStop = mutualExclusion('race.won', 'running(branch.work)');

export const firstWinsProof: NetProof = {
  name: 'pattern A, speculative race of three',
  net: race,
  claims: [
    {
      properties: [eventOutBounded(answerOut.name, 1, per), raceCommitsOnce, losersStop],
      bounds,
    },
    {
      properties: [
        eventuallyAnswered('race.start', ['race.commit', 'race.lose']),
        deadlockFree(['race.won', 'branch.answered', 'branch.failed']),
      ],
      bounds: one,
    },
  ],
  mutants: [
    {
      that: 'commits without checking whether another has won',
      net: withoutInhibitor(race, 'race.commit', 'race.won'),
      property: raceCommitsOnce,
      bounds,
    },
    {
      that: 'commits and lets the other branches run on',
      net: withoutReset(race, 'race.commit', 'running(branch.work)'),
      property: losersStop,
      bounds,
    },
  ],
};

const vote = quorum(2, { a: never, b: never, c: never, d: never });
const oneDecision = eventOutBounded(decisionOut.name, 1, per);
const decided = eventuallyAnswered('quorum.start', ['quorum.decide', 'quorum.fail']);
/** No vote for one question is counted for the next. */
const ownVotes = placeBound(
  ['vote.asked', 'running(vote.ask)', 'vote.cast', 'vote.failed', 'vote.discarded'],
  4,
);

export const quorumProof: NetProof = {
  name: 'pattern B, quorum of 2 of 4',
  net: vote,
  claims: [
    { properties: [oneDecision, ownVotes, placeBound('quorum.open', 1)], bounds },
    { properties: [decided, deadlockFree(['vote.failed', 'vote.discarded'])], bounds: one },
  ],
  mutants: [
    {
      that: 'counts early votes as late',
      net: withoutInhibitor(vote, 'vote.discard', 'quorum.open'),
      property: decided,
      bounds: one,
    },
    {
      that: 'starts a new question and leaves one in flight',
      net: withoutReset(vote, 'quorum.start', 'running(vote.ask)'),
      property: ownVotes,
      bounds,
    },
    {
      that: 'decides and does not close the vote',
      net: readingInstead(vote, 'quorum.decide', 'open'),
      property: oneDecision,
      bounds,
    },
  ],
};

const optimistic = optimisticCommit({ cheap: never, slow: never, isValid: () => true });
const endings = ['cheap.commit', 'slow.commit', 'answer.give-up'];
const oneCommit = atMostOneCommits(endings, per);
const answered = eventuallyAnswered('question.start', endings);

export const optimisticCommitProof: NetProof = {
  name: 'pattern C, optimistic commit',
  net: optimistic,
  claims: [
    {
      properties: [
        oneCommit,
        placeBound('answer.committed', 1),
        mutualExclusion('cheap.valid', 'cheap.rejected'),
      ],
      bounds,
    },
    {
      properties: [
        answered,
        deadlockFree([
          'answer.committed',
          'cheap.valid',
          'cheap.rejected',
          'slow.done',
          'slow.failed',
        ]),
      ],
      bounds: one,
    },
  ],
  mutants: [
    {
      that: 'commits without the mutex',
      net: withoutInhibitor(optimistic, 'cheap.commit', 'answer.committed'),
      property: oneCommit,
      bounds,
      shows: /slow\.commit[^]*cheap\.commit/,
    },
    {
      that: 'has no fallback',
      net: withChanged(optimistic, 'slow.run', () => ({ give: allOf({}) })),
      property: answered,
      bounds: one,
    },
  ],
};
