import { allOf, effect, many, net, oneOf, outlet, place, pure, running } from 'petrichor/net';
import type { Net, Outlet, TokenPlace } from 'petrichor/net';
import { z } from 'zod';

export type Branch = (question: string, signal: AbortSignal) => Promise<string>;
export interface Answer {
  readonly by: string;
  readonly text: string;
}

const answerSchema = z.object({ by: z.string(), text: z.string() });
export const questionIn: TokenPlace<string> = place('question.in', z.string(), {
  environment: true,
});
export const answerOut: Outlet<Answer> = outlet('answer.out', answerSchema);

/** The first answer wins: nobody else can commit, and who still works is stopped. */
export function firstWins(branches: Readonly<Record<string, Branch>>): Net {
  const names = Object.keys(branches);
  const asked = place('branch.asked', z.object({ by: z.string(), question: z.string() }));
  const answered = place('branch.answered', answerSchema);
  const failed = place('branch.failed');
  const won = place('race.won');

  const work = effect('branch.work', {
    take: { asked },
    give: oneOf({ answered, failed }),
    failed: () => ({ failed: null }),
    run: async ({ asked: { by, question } }, { signal }) => {
      const text = await branches[by]?.(question, signal);
      return text === undefined ? { failed: null } : { answered: { by, text } };
    },
  });
  const start = pure('race.start', {
    take: { question: questionIn },
    reset: [asked, running(work), answered, failed, won],
    give: allOf(Object.fromEntries(names.map((name) => [name, asked]))),
    priority: 1,
    run: ({ question }) => Object.fromEntries(names.map((by) => [by, { by, question }])),
  });
  const commit = pure('race.commit', {
    take: { answer: answered },
    unless: [won],
    reset: [asked, running(work)],
    give: allOf({ won, answer: answerOut }),
    run: ({ answer }) => ({ won: null, answer }),
  });
  const lose = pure('race.lose', {
    take: { all: many(names.length, failed) },
    give: allOf({ won, answer: answerOut }),
    run: () => ({ won: null, answer: { by: 'nobody', text: '' } }),
  });
  return net('first-wins', {
    in: { questionIn },
    out: { answerOut },
    transitions: [start, work, commit, lose],
  });
}
