import { allOf, effect, net, oneOf, outlet, place, pure, running, upTo } from 'petrichor/net';
import type { Net, Outlet, TokenPlace } from 'petrichor/net';
import { z } from 'zod';

/** How a question is searched: by which strategies, and what their results become together. */
export interface Plan {
  readonly question: string;
  readonly strategies: readonly string[];
  readonly merge: 'all' | 'first';
}

export interface Job {
  readonly question: string;
  readonly strategy: string;
}

/** One batch: what is expected, what came, and how it is merged. It is a token, so it is whole or gone. */
export interface Collector extends Plan {
  readonly expected: number;
  readonly buckets: Readonly<Record<string, readonly string[]>>;
}

export interface Answer {
  readonly question: string;
  readonly hits: readonly string[];
}

export interface FanOutServices {
  readonly classify: (question: string, signal: AbortSignal) => Promise<Plan>;
  readonly search: (job: Job, signal: AbortSignal) => Promise<readonly string[]>;
}

/** The most strategies of one batch. */
const MAX_JOBS = 8;

const hits = z.array(z.string()).readonly();
const planFields = {
  question: z.string(),
  strategies: z.array(z.string()).min(1).max(MAX_JOBS).readonly(),
  merge: z.enum(['all', 'first']),
};
const collectorFields = { expected: z.int(), buckets: z.record(z.string(), hits) };

/** (Seed name: USER_NEW_TURN.) */
export const turnIn: TokenPlace<string> = place('turn.in', z.string(), { environment: true });
/** Somebody asks how it goes. */
export const statusIn: TokenPlace<null> = place('status.in', { environment: true });
/** (Seed name: COLLECTOR.) */
export const collector: TokenPlace<Collector> = place(
  'batch.collector',
  z.object({ ...planFields, ...collectorFields }),
);
export const answerOut: Outlet<Answer> = outlet(
  'answer.out',
  z.object({ question: z.string(), hits }),
);
export const statusOut: Outlet<string> = outlet('status.out', z.string());

/**
 * A question becomes as many searches as its intent asks for; what they find is collected in one token. Whoever wants to
 * know how it goes reads that token; a new question empties every place of the old batch in one firing.
 */
export function fanOut({ classify, search }: FanOutServices): Net {
  const asked = place('batch.asked', z.string());
  const planned = place('batch.planned', z.object(planFields));
  const job = place('search.job', z.object({ question: z.string(), strategy: z.string() }));
  const result = place('search.result', z.object({ strategy: z.string(), hits }));
  const complete = place('batch.complete');

  const plan = effect('intent.classify', {
    take: { question: asked },
    give: allOf({ planned }),
    failed: (_, { question }) => ({
      planned: { question, strategies: ['keywords'], merge: 'first' as const },
    }),
    onCrash: 'rerun',
    run: async ({ question }, { signal }) => ({ planned: await classify(question, signal) }),
  });

  const spawn = pure('batch.spawn', {
    take: { plan: planned },
    give: allOf({ collector, jobs: upTo(MAX_JOBS, job) }),
    run: ({ plan }) => {
      const chosen = [...new Set(plan.strategies)];
      return {
        collector: { ...plan, expected: chosen.length, buckets: {} },
        jobs: chosen.map((strategy) => ({ question: plan.question, strategy })),
      };
    },
  });

  // One transition, as many firings at once as there are jobs.
  const work = effect('search.run', {
    take: { job },
    give: allOf({ result }),
    failed: (_, { job: { strategy } }) => ({ result: { strategy, hits: [] } }),
    onCrash: 'rerun',
    run: async ({ job }, { signal }) => ({
      result: { strategy: job.strategy, hits: await search(job, signal) },
    }),
  });

  const collect = pure('batch.collect', {
    take: { collector, result },
    give: oneOf({ more: allOf({ collector }), last: allOf({ collector, complete }) }),
    run: ({ collector, result }) => {
      const buckets = { ...collector.buckets, [result.strategy]: result.hits };
      const merged = { ...collector, buckets };
      return Object.keys(buckets).length < collector.expected
        ? { more: { collector: merged } }
        : { last: { collector: merged, complete: null } };
    },
  });

  const answer = pure('batch.answer', {
    take: { complete, collector },
    // The count says when it is time; these say that nothing of the batch is left behind.
    unless: [job, running(work), result],
    reset: [complete],
    give: allOf({ answer: answerOut }),
    run: ({ collector }) => ({
      answer: { question: collector.question, hits: mergedHits(collector) },
    }),
  });

  const tell = pure('status.tell', {
    take: { asked: statusIn },
    read: { collector },
    give: allOf({ status: statusOut }),
    run: ({ collector: { buckets, expected } }) => ({
      status: `Still searching: ${Object.keys(buckets).length} of ${expected}.`,
    }),
  });

  const idle = pure('status.idle', {
    take: { asked: statusIn },
    unless: [collector],
    give: allOf({ status: statusOut }),
    run: () => ({ status: 'No search is under way.' }),
  });

  const begin = pure('turn.begin', {
    take: { question: turnIn },
    reset: [asked, running(plan), planned, collector, job, running(work), result, complete],
    give: allOf({ asked }),
    // Before anything of the old batch could go on.
    priority: 100,
    run: ({ question }) => ({ asked: question }),
  });

  return net('fan-out', {
    in: { turnIn, statusIn },
    out: { answerOut, statusOut },
    transitions: [begin, plan, spawn, work, collect, answer, tell, idle],
  });
}

function mergedHits({ strategies, buckets, merge }: Collector): readonly string[] {
  const found = strategies.map((strategy) => buckets[strategy] ?? []);
  return merge === 'all' ? [...new Set(found.flat())] : (found.find((one) => one.length > 0) ?? []);
}
