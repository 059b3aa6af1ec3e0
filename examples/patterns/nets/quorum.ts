import { allOf, effect, many, net, oneOf, outlet, place, pure, running } from 'petrichor/net';
import type { Net, Outlet, TokenPlace } from 'petrichor/net';
import { z } from 'zod';

export type Voter = (question: string) => Promise<string>;
export interface Vote {
  readonly by: string;
  readonly vote: string;
}

const voteSchema = z.object({ by: z.string(), vote: z.string() });
export const questionIn: TokenPlace<string> = place('question.in', z.string(), {
  environment: true,
});
/** Votes that came when it was decided. (Seed name: DISCARDED.) */
export const discarded: TokenPlace<Vote> = place('vote.discarded', voteSchema);
/** The votes that decided; empty when too many failed. */
export const decisionOut: Outlet<readonly Vote[]> = outlet(
  'decision.out',
  z.array(voteSchema).readonly(),
);

/** Decided by the first `k` votes, in the moment the k-th is there; later ones are kept apart. */
export function quorum(k: number, voters: Readonly<Record<string, Voter>>): Net {
  const names = Object.keys(voters);
  const asked = place('vote.asked', z.object({ by: z.string(), question: z.string() }));
  const cast = place('vote.cast', voteSchema);
  const failed = place('vote.failed');
  const open = place('quorum.open');

  const ask = effect('vote.ask', {
    take: { asked },
    give: oneOf({ cast, failed }),
    failed: () => ({ failed: null }),
    run: async ({ asked: { by, question } }) => {
      const vote = await voters[by]?.(question);
      return vote === undefined ? { failed: null } : { cast: { by, vote } };
    },
  });
  const start = pure('quorum.start', {
    take: { question: questionIn },
    reset: [open, asked, running(ask), cast, failed, discarded],
    give: allOf({ open, ...Object.fromEntries(names.map((name) => [`ask ${name}`, asked])) }),
    priority: 1,
    run: ({ question }) => ({
      open: null,
      ...Object.fromEntries(names.map((by) => [`ask ${by}`, { by, question }])),
    }),
  });
  const decide = pure('quorum.decide', {
    take: { open, votes: many(k, cast) },
    give: allOf({ decision: decisionOut }),
    run: ({ votes }) => ({ decision: votes }),
  });
  const fail = pure('quorum.fail', {
    take: { open, failures: many(names.length - k + 1, failed) },
    give: allOf({ decision: decisionOut }),
    run: () => ({ decision: [] }),
  });
  const late = pure('vote.discard', {
    take: { vote: cast },
    unless: [open],
    give: allOf({ discarded }),
    run: ({ vote }) => ({ discarded: vote }),
  });
  return net('quorum', {
    in: { questionIn },
    out: { decisionOut },
    transitions: [start, ask, decide, fail, late],
  });
}
