import * as z from 'zod';
import {
  all,
  allOf,
  append,
  effect,
  initialToken,
  listIn,
  listPlace,
  many,
  matching,
  net,
  oneOf,
  place,
  pure,
  running,
  tokensIn,
  upTo,
} from '../../src/net/index.ts';
import type { EffectContext, Marking, Transition } from '../../src/net/index.ts';
import { speculativeRace } from '../nets/speculative-race.ts';
import type { CrashCase } from './crash-everywhere.ts';
import type { EffectRunner } from './side-effect-world.ts';

/** The sorted values in a place, because crashes may change their order. */
function valuesIn(marking: Marking, name: string): readonly unknown[] {
  return tokensIn(marking, name).map((token) => token.value);
}

function sorted(values: readonly unknown[]): readonly unknown[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const everyPlace = (marking: Marking): unknown =>
  Object.fromEntries(
    [...marking.tokens.keys()].toSorted().map((name) => [name, sorted(valuesIn(marking, name))]),
  );

const Job = z.object({ order: z.string(), part: z.number() });
const Part = Job.extend({ made: z.string() });

/** Each order fans out into three jobs of different lengths. Their results are joined by order. */
const fanOutJoin: CrashCase = {
  name: 'fan-out and join by key',
  inputs: [
    { at: 0, place: 'order.in', value: 'x' },
    { at: 5, place: 'order.in', value: 'y' },
  ],
  outcome: everyPlace,
  expected: { 'order.done': ['x: x1 x2 x3', 'y: y1 y2 y3'] },
  net: (world) => {
    const incoming = place('order.in', z.string(), { environment: true });
    const open = place('order.open', z.string());
    const job = place('job.todo', Job);
    const made = place('job.made', Part);
    const done = place('order.done', z.string());
    const fan = pure('order.fan-out', {
      take: { incoming },
      give: allOf({ open, jobs: upTo(3, job) }),
      run: ({ incoming: order }) => ({
        open: order,
        jobs: [1, 2, 3].map((part) => ({ order, part })),
      }),
    });
    const work = effect('job.work', {
      take: { job },
      concurrency: 4,
      give: oneOf({ made }),
      onCrash: 'rerun',
      failed: ({ kind }, { job }) => ({ made: { ...job, made: kind } }),
      run: async ({ job }, context) => {
        await world.runEffect(context, 10 * job.part);
        return { made: { ...job, made: `${job.order}${job.part}` } };
      },
    });
    const join = pure('order.join', {
      take: {
        open: matching(open, (id) => id),
        parts: matching(many(3, made), ({ order }) => order),
      },
      give: oneOf({ done }),
      run: ({ open: order, parts }) => ({
        done: `${order}: ${parts
          .map((part) => part.made)
          .toSorted()
          .join(' ')}`,
      }),
    });
    return net('fan-out', { transitions: [fan, work, join] });
  },
};

const race = (
  name: string,
  slowMs: number,
  fastMs: number,
  answer: string,
  inputs: CrashCase['inputs'] = [],
): CrashCase => ({
  name,
  inputs: [{ at: 0, place: 'race.asked', value: 'q' }, ...inputs],
  outcome: (marking) => valuesIn(marking, 'race.response'),
  winner: (marking) => valuesIn(marking, 'race.response')[0],
  expected: [answer],
  net: (world) => {
    const raceNet = speculativeRace({
      slow: async (question) => question,
      fast: async (question) => question,
    });
    return {
      ...raceNet,
      transitions: raceNet.transitions.map((t): Transition =>
        t.kind === 'pure' ? t : timed(t, t.name.endsWith('slow') ? slowMs : fastMs, world),
      ),
    };
  },
});

function timed(t: Transition, ms: number, world: EffectRunner): Transition {
  const done = t.name.endsWith('slow') ? 'slowDone' : 'fastDone';
  return {
    ...t,
    run: async (_: unknown, context: EffectContext) => {
      await world.runEffect(context, ms);
      return { [done]: done };
    },
  };
}

/** A turn thinks until its budget is used, and then reports it. */
const budgetLoop: CrashCase = {
  name: 'budget loop',
  inputs: [{ at: 0, place: 'turn.in', value: null }],
  outcome: (marking) => [everyPlace(marking), listIn(marking, 'thoughts').items],
  expected: [{ 'turn.stopped': [1012] }, [10, 101, 1012]],
  net: (world) => {
    const begin = place('turn.in', { environment: true });
    const request = place('model.request', z.number());
    const thought = place('model.thought', z.number());
    const budget = place('turn.budget');
    const stopped = place('turn.stopped', z.number());
    const thoughts = listPlace('thoughts', z.number());
    return net('budget', {
      initial: [initialToken(budget, null, 3)],
      transitions: [
        pure('turn.begin', {
          take: { begin },
          give: oneOf({ request }),
          run: () => ({ request: 1 }),
        }),
        effect('model.think', {
          take: { request, budget },
          read: { thoughts },
          onCrash: 'rerun',
          give: oneOf({ thought }),
          failed: () => ({ thought: -1 }),
          run: async ({ request, thoughts }, context) => {
            await world.runEffect(context, 10);
            return { thought: request * 10 + thoughts.length };
          },
        }),
        pure('turn.again', {
          take: { thought },
          give: allOf({ request, kept: append(thoughts) }),
          run: ({ thought }) => ({ request: thought, kept: [thought] }),
        }),
        pure('turn.give-up', {
          take: { request },
          unless: [budget],
          give: oneOf({ stopped }),
          run: ({ request }) => ({ stopped: request }),
        }),
      ],
    });
  },
};

/** Messages wait for the permit. Each turn removes the leftovers of the previous turn and has a new budget. */
const twoTurns: CrashCase = {
  name: 'two turns with reset',
  inputs: [
    { at: 0, place: 'user.in', value: 'one' },
    { at: 3, place: 'user.in', value: 'two' },
  ],
  outcome: (marking) => [everyPlace(marking), listIn(marking, 'log').items],
  expected: [
    { 'turn.budget': [null], 'turn.draft': ['re: two'], 'turn.permit': [null] },
    ['re: one', 're: two'],
  ],
  net: (world) => {
    const message = place('user.in', z.string(), { environment: true });
    const permit = place('turn.permit');
    const budget = place('turn.budget');
    const draft = place('turn.draft', z.string());
    const request = place('model.request', z.string());
    const answer = place('model.answer', z.string());
    const log = listPlace('log', z.string());
    return net('turns', {
      initial: [initialToken(permit, null)],
      transitions: [
        pure('turn.begin', {
          take: { message, permit },
          reset: [budget, draft],
          give: allOf({ request, budget: upTo(2, budget) }),
          run: ({ message }) => ({ request: message, budget: [null, null] }),
        }),
        effect('model.call', {
          take: { request, budget },
          onCrash: 'rerun',
          give: oneOf({ answer }),
          failed: ({ kind }) => ({ answer: kind }),
          run: async ({ request }, context) => {
            await world.runEffect(context, 10);
            return { answer: `re: ${request}` };
          },
        }),
        pure('turn.end', {
          take: { answer },
          give: allOf({ permit, draft, said: append(log) }),
          run: ({ answer }) => ({ permit: null, draft: answer, said: [answer] }),
        }),
      ],
    });
  },
};

const Call = z.object({ id: z.string(), ms: z.number() });

/** Parked calls: one is answered while the session may have no owner, one times out, and timeouts chain. */
const timers: CrashCase = {
  name: 'timers',
  downtimeMs: 150,
  inputs: [
    { at: 0, place: 'call.in', value: { id: 'answered', ms: 200 } },
    { at: 0, place: 'call.in', value: { id: 'forgotten', ms: 100 } },
    { at: 60, place: 'answer.in', value: 'answered' },
  ],
  outcome: everyPlace,
  expected: { 'call.done': ['answered in time', 'forgotten given up'] },
  net: () => {
    const incoming = place('call.in', Call, { environment: true });
    const parked = place('call.parked', Call);
    const answer = place('answer.in', z.string(), { environment: true });
    const done = place('call.done', z.string());
    const reminder = place('call.reminder', z.string());
    return net('timers', {
      transitions: [
        pure('call.park', {
          take: { incoming },
          give: oneOf({ parked }),
          run: ({ incoming }) => ({ parked: incoming }),
        }),
        pure('call.answer', {
          take: { parked: matching(parked, ({ id }) => id), answer: matching(answer, (id) => id) },
          give: oneOf({ done }),
          run: ({ answer }) => ({ done: `${answer} in time` }),
        }),
        pure('call.expire', {
          take: { parked },
          after: ({ ms }) => ms,
          give: oneOf({ reminder }),
          run: ({ parked }) => ({ reminder: parked.id }),
        }),
        pure('call.give-up', {
          take: { reminder },
          after: 50,
          give: oneOf({ done }),
          run: ({ reminder }) => ({ done: `${reminder} given up` }),
        }),
      ],
    });
  },
};

/** Five parallel calls. The third hangs until its timeout. */
const fiveCalls: CrashCase = {
  name: 'five parallel calls of which one times out',
  inputs: [{ at: 0, place: 'batch.in', value: null }],
  outcome: everyPlace,
  expected: { 'batch.done': ['1 ok, 2 ok, 3 timeout, 4 ok, 5 ok'] },
  net: (world) => {
    const begin = place('batch.in', { environment: true });
    const call = place('tool.call', z.number());
    const result = place('tool.result', z.string());
    const done = place('batch.done', z.string());
    return net('five', {
      transitions: [
        pure('batch.begin', {
          take: { begin },
          give: allOf({ calls: upTo(5, call) }),
          run: () => ({ calls: [1, 2, 3, 4, 5] }),
        }),
        effect('tool.run', {
          take: { call },
          timeoutMs: ({ call }) => (call === 3 ? 30 : 500),
          onCrash: 'rerun',
          give: oneOf({ result }),
          failed: ({ kind }, { call }) => ({ result: `${call} ${kind}` }),
          run: async ({ call }, context) => {
            await world.runEffect(context, call === 3 ? Number.POSITIVE_INFINITY : 10 * call);
            return { result: `${call} ok` };
          },
        }),
        pure('batch.end', {
          take: { results: many(5, result) },
          give: oneOf({ done }),
          run: ({ results }) => ({ done: results.toSorted().join(', ') }),
        }),
      ],
    });
  },
};

/** A call fails, waits, and is retried. Meanwhile an interrupt without a matching call changes nothing. */
const retries: CrashCase = {
  name: 'a retry',
  inputs: [{ at: 0, place: 'tool.call', value: 'a' }],
  outcome: (marking) => [everyPlace(marking), marking.firings.size],
  expected: [{ 'tool.result': ['a ok'] }, 0],
  net: (world) => {
    const call = place('tool.call', z.string(), { environment: true });
    const result = place('tool.result', z.string());
    return net('retry', {
      transitions: [
        effect('tool.run', {
          take: { call },
          retry: { attempts: 9, backoff: '1s..1s' },
          onCrash: 'rerun',
          give: oneOf({ result }),
          failed: ({ kind }) => ({ result: kind }),
          run: async ({ call }, context) => {
            await world.runEffect(context, 10);
            if (context.attempt === 1) throw new Error('busy');
            return { result: `${call} ok` };
          },
        }),
      ],
    });
  },
};

/** The later attempts of an effect read the same list items as the first, even if the list has grown. */
const pinned: CrashCase = {
  name: 'a pinned conversation',
  inputs: [
    { at: 0, place: 'say', value: 'a' },
    { at: 1, place: 'ask', value: null },
    { at: 5, place: 'say', value: 'b' },
    { at: 9, place: 'forget', value: null },
  ],
  outcome: (marking) => [everyPlace(marking), listIn(marking, 'conversation').items],
  expected: [{ answer: ['a'] }, ['a', 'b', '---']],
  net: (world) => {
    const say = place('say', z.string(), { environment: true });
    const ask = place('ask', { environment: true });
    const forget = place('forget', { environment: true });
    const answer = place('answer', z.string());
    const conversation = listPlace('conversation', z.string());
    return net('pinned', {
      transitions: [
        pure('speak', {
          take: { say },
          give: allOf({ said: append(conversation) }),
          run: ({ say }) => ({ said: [say] }),
        }),
        pure('clear', {
          take: { forget },
          give: allOf({ said: append(conversation) }),
          run: () => ({ said: ['---'] }),
        }),
        effect('model.call', {
          take: { ask },
          read: { conversation },
          onCrash: 'rerun',
          give: oneOf({ answer }),
          failed: ({ kind }) => ({ answer: kind }),
          run: async ({ conversation: heard }, context) => {
            await world.runEffect(context, 20);
            return { answer: heard.join(' ') };
          },
        }),
      ],
    });
  },
};

/** A tool that must not run twice: after a crash its outcome is known or `unknown`, and it is never retried. */
const harmful: CrashCase = {
  name: 'a tool that must not run twice',
  runsOnce: true,
  inputs: [
    { at: 0, place: 'tool.call', value: 'a' },
    { at: 4, place: 'tool.call', value: 'b' },
    { at: 50, place: 'stop', value: null },
  ],
  outcome: (marking) =>
    ['a', 'b'].map(
      (call) =>
        valuesIn(marking, 'tool.result').filter((result) => String(result).startsWith(call)).length,
    ),
  expected: [1, 1],
  net: (world) => {
    const call = place('tool.call', z.string(), { environment: true });
    const stop = place('stop', { environment: true });
    const result = place('tool.result', z.string());
    const run = effect('tool.run', {
      take: { call },
      give: oneOf({ result }),
      failed: ({ kind }, { call }) => ({ result: `${call} ${kind}` }),
      run: async ({ call }, context) => {
        await world.runEffect(context, call === 'a' ? 10 : Number.POSITIVE_INFINITY);
        return { result: `${call} ok` };
      },
    });
    const cancel = pure('cancel', {
      take: { stop, firings: all(running(run), { min: 0 }) },
      give: allOf({ results: upTo(5, result) }),
      run: ({ firings }) => ({ results: firings.map(({ inputs }) => `${inputs.call} stopped`) }),
    });
    return net('harmful', { transitions: [run, cancel] });
  },
};

export const crashCases: readonly CrashCase[] = [
  fanOutJoin,
  race('inhibitor race of pure commits', 30, 10, 'slowDone', [
    { at: 0, place: 'race.asked', value: 'second' },
  ]),
  race('both ready at once', 10, 10, 'slowDone'),
  race('the deadline decides', 5_000, 10, 'fastDone'),
  budgetLoop,
  twoTurns,
  timers,
  fiveCalls,
  retries,
  pinned,
  harmful,
];
