import { faultPlace } from '../../net/index.ts';
import type { Contract } from '../../verify/index.ts';
import { turnEnding } from '../vocabulary/turn.ts';
import { outcomeGrading, outcomeNext, outcomeVerdict, outcomeWaiting } from './outcome-places.ts';

/**
 * The contract of the outcome rounds of a session. Their environment promises that a turn ends only once until it is
 * judged, and not while it is judged. The rounds promise that they judge a turn only when it is to end, and that they
 * then do one of two things, once: set the agent to work again at `revision`, or let the turn end. Whoever discards the
 * round ends the judgment.
 */
export function outcomeContract(revision: string): Contract {
  const round = [outcomeGrading.name, outcomeVerdict.name];
  const discarded = { stop: 'open', abandon: 'open', fail: 'failed' };
  const failed = Object.fromEntries(
    ['fail', 'stop', 'judge', 'revise', 'queue', 'done', 'end', 'ending'].map((event) => [
      event,
      'failed',
    ]),
  );
  return {
    initial: 'open',
    events: [
      {
        name: 'abandon',
        promisedBy: 'environment',
        on: { takes: [faultPlace.name], empties: round, by: 'environment' },
      },
      { name: 'fail', promisedBy: 'environment', on: { faults: true } },
      {
        name: 'stop',
        promisedBy: 'environment',
        on: { empties: round, by: 'environment' },
      },
      {
        name: 'judge',
        promisedBy: 'component',
        on: { takes: [turnEnding.name], by: 'component' },
      },
      { name: 'revise', promisedBy: 'component', on: { gives: [revision], by: 'component' } },
      // Nothing depends on it. It lets views tell apart the two places in which an outcome waits.
      {
        name: 'queue',
        promisedBy: 'component',
        on: { gives: [outcomeWaiting.name, outcomeNext.name], by: 'component' },
      },
      { name: 'done', promisedBy: 'component', on: { gives: [turnEnding.name], by: 'component' } },
      {
        name: 'end',
        promisedBy: 'environment',
        on: { takes: [turnEnding.name], by: 'environment' },
      },
      {
        name: 'ending',
        promisedBy: 'environment',
        on: { gives: [turnEnding.name], by: 'environment' },
      },
    ],
    steps: {
      open: { queue: 'open', ending: 'ending', ...discarded },
      ending: { queue: 'ending', judge: 'judging', end: 'open', ...discarded },
      judging: { queue: 'judging', revise: 'open', done: 'ending', ...discarded },
      failed: { abandon: 'open', ...failed },
    },
  };
}
