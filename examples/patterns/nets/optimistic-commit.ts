import { allOf, effect, net, oneOf, outlet, place, pure, running } from 'petrichor/net';
import type { Effect, Net, Outlet, TokenPlace } from 'petrichor/net';
import { z } from 'zod';

export interface Paths {
  readonly cheap: (question: string, signal: AbortSignal) => Promise<string>;
  readonly slow: (question: string, signal: AbortSignal) => Promise<string>;
  readonly isValid: (answer: string) => boolean;
}
export interface Committed {
  readonly by: 'cheap' | 'slow' | 'nobody';
  readonly text: string;
}

const text = z.string();
export const questionIn: TokenPlace<string> = place('question.in', text, { environment: true });
export const answerOut: Outlet<Committed> = outlet(
  'answer.out',
  z.object({ by: z.enum(['cheap', 'slow', 'nobody']), text }),
);

/** The cheap answer is committed if it is valid; else the slow one, which was under way all the time. */
export function optimisticCommit({ cheap, slow, isValid }: Paths): Net {
  const [cheapAsked, slowAsked] = [place('cheap.asked', text), place('slow.asked', text)];
  const [cheapDone, slowDone] = [place('cheap.done', text), place('slow.done', text)];
  const [valid, rejected] = [place('cheap.valid', text), place('cheap.rejected')];
  const slowFailed = place('slow.failed');
  const committed = place('answer.committed');
  const answer = allOf({ committed, answer: answerOut });

  const runCheap = path('cheap.run', cheap, cheapAsked, cheapDone, rejected);
  const runSlow = path('slow.run', slow, slowAsked, slowDone, slowFailed);
  const validate = pure('cheap.validate', {
    take: { found: cheapDone },
    give: oneOf({ valid, rejected }),
    run: ({ found }) => (isValid(found) ? { valid: found } : { rejected: null }),
  });
  const commitCheap = pure('cheap.commit', {
    take: { found: valid },
    unless: [committed],
    reset: [slowAsked, running(runSlow)],
    give: answer,
    run: ({ found }) => ({ committed: null, answer: { by: 'cheap' as const, text: found } }),
  });
  const commitSlow = pure('slow.commit', {
    take: { found: slowDone },
    unless: [committed],
    reset: [cheapAsked, running(runCheap)],
    give: answer,
    run: ({ found }) => ({ committed: null, answer: { by: 'slow' as const, text: found } }),
  });
  const giveUp = pure('answer.give-up', {
    take: { rejected, slowFailed },
    unless: [committed],
    give: answer,
    run: () => ({ committed: null, answer: { by: 'nobody' as const, text: '' } }),
  });
  const cheapPlaces = [cheapAsked, running(runCheap), cheapDone, valid, rejected];
  const slowPlaces = [slowAsked, running(runSlow), slowDone, slowFailed];
  const start = pure('question.start', {
    take: { question: questionIn },
    reset: [...cheapPlaces, ...slowPlaces, committed],
    give: allOf({ cheapAsked, slowAsked }),
    priority: 1,
    run: ({ question }) => ({ cheapAsked: question, slowAsked: question }),
  });
  return net('optimistic-commit', {
    in: { questionIn },
    out: { answerOut },
    transitions: [start, runCheap, runSlow, validate, commitCheap, commitSlow, giveUp],
  });
}

function path(
  name: string,
  run: Paths['cheap'],
  asked: TokenPlace<string>,
  done: TokenPlace<string>,
  failed: TokenPlace<null>,
): Effect {
  return effect(name, {
    take: { question: asked },
    give: oneOf({ done, failed }),
    failed: () => ({ failed: null }),
    run: async ({ question }, { signal }) => ({ done: await run(question, signal) }),
  });
}
