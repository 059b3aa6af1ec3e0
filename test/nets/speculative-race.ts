import * as z from 'zod';
import { allOf, effect, net, oneOf, place, pure, running } from '../../src/net/index.ts';
import type { Net, TokenPlace, Transition } from '../../src/net/index.ts';

const question = z.string();
export const requested: TokenPlace<string> = place('race.asked', question, { environment: true });
export const bargeIn: TokenPlace<null> = place('race.barge-in', { environment: true });
export const response: TokenPlace<string> = place('race.response', z.string());

export interface Branches {
  readonly slow: (question: string) => Promise<string>;
  readonly fast: (question: string) => Promise<string>;
  /** A third answer, sent after five seconds if there is no other. */
  readonly cached?: string;
}

/**
 * A slow and a fast path to one answer. The slow one is preferred if it returns within two seconds, then the fast one
 * is sent. A barge-in stops both and opens the next race. A commit outputs `sent`, which inhibits every other commit.
 */
export function speculativeRace({ slow, fast, cached }: Branches): Net {
  const forSlow = place('race.for-slow', question);
  const forFast = place('race.for-fast', question);
  const pending = place('race.pending');
  const expired = place('race.expired');
  const slowDone = place('race.slow-done', z.string());
  const fastDone = place('race.fast-done', z.string());
  const failed = place('race.failed', z.string());
  const sent = place('race.sent');

  const begin = pure('race.begin', {
    take: { asked: requested },
    give: allOf({ forSlow, forFast, pending }),
    run: ({ asked }) => ({ forSlow: asked, forFast: asked, pending: null }),
  });
  const runSlow = effect('race.run-slow', {
    take: { forSlow },
    give: oneOf({ slowDone, failed }),
    failed: ({ message }) => ({ failed: message }),
    onCrash: 'rerun',
    run: async ({ forSlow }) => ({ slowDone: await slow(forSlow) }),
  });
  const runFast = effect('race.run-fast', {
    take: { forFast },
    give: oneOf({ fastDone, failed }),
    failed: ({ message }) => ({ failed: message }),
    onCrash: 'rerun',
    run: async ({ forFast }) => ({ fastDone: await fast(forFast) }),
  });
  const expire = pure('race.expire', {
    take: { pending },
    after: 2_000,
    give: oneOf({ expired }),
    run: () => ({ expired: null }),
  });
  const commitSlow = pure('race.commit-slow', {
    take: { slowDone },
    unless: [sent],
    priority: 1,
    give: allOf({ response, sent }),
    run: ({ slowDone }) => ({ response: slowDone, sent: null }),
  });
  const commitFast = pure('race.commit-fast', {
    take: { fastDone, expired },
    unless: [sent],
    give: allOf({ response, sent }),
    run: ({ fastDone }) => ({ response: fastDone, sent: null }),
  });
  const places = [forSlow, forFast, pending, expired, slowDone, fastDone, failed, sent];
  const stop = pure('race.stop', {
    take: { bargeIn },
    reset: [...places, running(runSlow), running(runFast)],
    priority: 2,
    give: allOf({}),
    run: () => ({}),
  });
  const tiers = [begin, runSlow, runFast, expire, commitSlow, commitFast, stop];
  return net('race', {
    transitions: cached === undefined ? tiers : [...tiers, thirdTier(cached)],
  });

  /** Five seconds in total. The exclusions and the resets of a barge-in stay the same. */
  function thirdTier(answer: string): Transition {
    return pure('race.commit-cached', {
      take: { expired },
      after: 3_000,
      unless: [sent],
      give: allOf({ response, sent }),
      run: () => ({ response: answer, sent: null }),
    });
  }
}
