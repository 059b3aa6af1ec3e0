import { allOf, compose, effect, net, optional, outlet, place, pure, running } from 'petrichor/net';
import type { Effect, Net, Outlet, TokenPlace } from 'petrichor/net';
import { z } from 'zod';

export interface Response {
  readonly by: 'slow' | 'fast' | 'cached';
  readonly text: string;
}

type Compute = (question: string, signal: AbortSignal) => Promise<string>;

export interface RaceServices {
  /** Accurate, and preferred within the deadline. */
  readonly slow: Compute;
  /** Approximate; it goes when the deadline is over. */
  readonly fast: Compute;
}

const DEADLINE_MS = 2_000;
const LAST_RESORT_MS = 5_000;
const responseSchema = z.object({ by: z.enum(['slow', 'fast', 'cached']), text: z.string() });

export const questionIn: TokenPlace<string> = place('question.in', z.string(), {
  environment: true,
});
/** (Seed name: USER_INTERRUPT.) */
export const interruptIn: TokenPlace<null> = place('interrupt.in', { environment: true });
/** (Seed name: TIMER_EXPIRED.) */
export const timerExpired: TokenPlace<null> = place('timer.expired');
/** (Seed name: RESPONSE.) */
export const response: TokenPlace<Response> = place('race.response', responseSchema);
/** Who commits leaves it here, and while it is here nobody commits. (Seed name: RESPONSE_SENT.) */
export const sent: TokenPlace<null> = place('race.sent');
export const answerOut: Outlet<Response> = outlet('answer.out', responseSchema);

/**
 * Two computations race for one answer. The slow one commits as soon as it is there; the fast one when the deadline is
 * over. Whoever commits shuts the other out; an interrupt empties the whole race, the lock included, in one firing.
 */
export function speculativeRace({ slow, fast }: RaceServices): Net {
  const slowAsked = place('slow.asked', z.string());
  const fastAsked = place('fast.asked', z.string());
  const slowDone = place('slow.done', z.string());
  const fastDone = place('fast.done', z.string());
  const timer = place('timer.pending');

  const runSlow = computing('slow.compute', slow, slowAsked, slowDone);
  const runFast = computing('fast.compute', fast, fastAsked, fastDone);

  const expire = pure('timer.expire', {
    take: { timer },
    after: DEADLINE_MS,
    give: allOf({ timerExpired }),
    run: () => ({ timerExpired: null }),
  });

  const commitSlow = pure('slow.commit', {
    take: { text: slowDone },
    unless: [sent],
    give: allOf({ response, sent }),
    // Both in one moment: the better one.
    priority: 1,
    run: ({ text }) => ({ response: { by: 'slow' as const, text }, sent: null }),
  });

  const commitFast = pure('fast.commit', {
    take: { text: fastDone, expired: timerExpired },
    unless: [sent],
    give: allOf({ response, sent }),
    run: ({ text }) => ({ response: { by: 'fast' as const, text }, sent: null }),
  });

  /** All that a race has under way, but for the lock. */
  const underWay = [
    slowAsked,
    running(runSlow),
    slowDone,
    fastAsked,
    running(runFast),
    fastDone,
    timer,
    timerExpired,
  ];

  // The answer is out: who still computes is stopped.
  const deliver = pure('response.deliver', {
    take: { response },
    reset: underWay,
    give: allOf({ answer: answerOut }),
    run: ({ response }) => ({ answer: response }),
  });

  const begin = pure('race.begin', {
    take: { question: questionIn },
    reset: [...underWay, response, sent],
    give: allOf({ slowAsked, fastAsked, timer }),
    priority: 100,
    run: ({ question }) => ({ slowAsked: question, fastAsked: question, timer: null }),
  });

  const interrupt = pure('race.interrupt', {
    take: { interrupt: interruptIn },
    reset: [...underWay, response, sent],
    give: allOf({}),
    // An interrupt is about what came before it: it goes before a question of the same moment.
    priority: 101,
    run: () => ({}),
  });

  return net('speculative-race', {
    in: { questionIn, interruptIn },
    out: { timerExpired, response, sent, answerOut },
    transitions: [begin, runSlow, runFast, expire, commitSlow, commitFast, deliver, interrupt],
  });
}

/**
 * A third tier for any race: five seconds after the question, what was prepared. One more transition under the same
 * lock; it takes the token that the timer left, so whatever empties the race empties this tier too.
 */
export function withCachedDefault(race: Net, text: string): Net {
  const commitCached = pure('cached.commit', {
    take: { expired: timerExpired },
    after: LAST_RESORT_MS - DEADLINE_MS,
    unless: [sent],
    give: allOf({ response, sent }),
    run: () => ({ response: { by: 'cached' as const, text }, sent: null }),
  });
  return compose('race-of-three', {
    in: race.in,
    out: race.out,
    nets: [race],
    transitions: [commitCached],
  });
}

/** One path: it comes to an answer, or to nothing. */
function computing(
  name: string,
  compute: Compute,
  asked: TokenPlace<string>,
  done: TokenPlace<string>,
): Effect {
  return effect(name, {
    take: { question: asked },
    give: allOf({ done: optional(done) }),
    failed: () => ({}),
    onCrash: 'rerun',
    run: async ({ question }, { signal }) => ({ done: await compute(question, signal) }),
  });
}
