import { allOf, compile, effect, net, oneOf, place, pure } from '../../../src/net/index.ts';
import type { CompiledNet } from '../../../src/net/index.ts';

const subscribed = place('feed.subscribed', { environment: true });
const polling = place('feed.polling');
const items = place('feed.items');
const ended = place('feed.ended');

/** A feed is polled again and again, and nothing limits the items that nobody takes in time. */
export const planted: CompiledNet = compile(
  net('unbounded-place', {
    transitions: [
      pure('feed.open', {
        take: { subscribed },
        give: allOf({ polling }),
        run: () => ({ polling: null }),
      }),
      effect('feed.poll', {
        take: { polling },
        give: oneOf({ more: allOf({ polling, items }), end: ended }),
        failed: () => ({ end: null }),
        run: async () => ({ end: null }),
      }),
      effect('feed.use', {
        take: { items },
        concurrency: 1,
        give: allOf({}),
        failed: () => ({}),
        run: async () => ({}),
      }),
    ],
  }),
);
