/** A net of one's own, without an agent: each order asks two questions at once, and is joined again by its number. */
import assert from 'node:assert/strict';
import { allOf, compile, Driver, effect, emptyMarking, Executor } from 'petrichor/net';
import { many, matching, net, outlet, place, pure, systemClock, upTo } from 'petrichor/net';
import { z } from 'zod';

const question = z.object({ order: z.string(), about: z.enum(['price', 'stock']) });
const answer = question.extend({ value: z.number().nullable() });
const ordered = place('order.in', z.string(), { environment: true });
const asked = place('question.asked', question);
const answered = place('question.answered', answer);
const offered = outlet(
  'offer.out',
  z.object({ order: z.string(), answers: z.array(answer).readonly() }),
);

const split = pure('order.split', {
  take: { order: ordered },
  give: allOf({ asked: upTo(2, asked) }),
  run: ({ order }) => ({ asked: (['price', 'stock'] as const).map((about) => ({ order, about })) }),
});

const find = effect('question.answer', {
  take: { question: asked },
  give: allOf({ answered }),
  // What a throw or a timeout becomes. An effect that does not say it does not build: no token is ever lost.
  failed: (_, { question }) => ({ answered: { ...question, value: null } }),
  run: async ({ question }) => ({ answered: { ...question, value: await lookUp(question.about) } }),
});

// Takes two answers of the SAME order, however many orders are under way.
const offer = pure('offer.make', {
  take: { answers: matching(many(2, answered), ({ order }) => order) },
  give: allOf({ offered }),
  run: ({ answers }) => ({ offered: { order: answers[0]?.order ?? '', answers } }),
});

// Says everything that is wrong with a net before it runs.
const shop = compile(
  net('shop', { in: { ordered }, out: { offered }, transitions: [split, find, offer] }),
);

const offers: unknown[] = [];
const { promise, resolve, reject } = Promise.withResolvers<void>();
const driver = new Driver({
  executor: (onAbort) => new Executor(shop, emptyMarking(), { toFiringId: String, onAbort }),
  clock: systemClock,
  commit: async () => 'committed', // a journal would be written here; effects begin only after it
  onCommitted: ({ outlets }) => {
    if (offers.push(...outlets.map(({ value }) => value)) === 3) resolve();
  },
  onProgress: () => {},
  onRefused: reject,
  onFailed: reject,
  reload: async () => Promise.reject(new Error('nobody else writes here')),
});
for (const order of ['A', 'B', 'C']) driver.inject({ place: 'order.in', value: order });
await promise;
const about = (order: string) => ['price', 'stock'].map((it) => ({ order, about: it, value: 5 }));
assert.deepEqual(
  offers,
  ['A', 'B', 'C'].map((order) => ({ order, answers: about(order) })),
);
console.log(`${offers.length} offers, each with the answers to its own order.`);

async function lookUp(what: string): Promise<number> {
  return what.length;
}
