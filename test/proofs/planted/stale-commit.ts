import * as z from 'zod';
import {
  allOf,
  compile,
  effect,
  initialToken,
  net,
  oneOf,
  outlet,
  place,
  pure,
} from '../../../src/net/index.ts';
import type { CompiledNet } from '../../../src/net/index.ts';

const request = place('request', z.string(), { environment: true });
const correction = place('correction', { environment: true });
const generation = place('generation', z.number());
const found = place('found', z.object({ generation: z.number(), text: z.string() }));
const replies = outlet('reply', z.string());
const dropped = outlet('dropped', z.string());

/** Two transitions reply with what a search found; one of them forgets to compare the generation. */
export const planted: CompiledNet = compile(
  net('stale-commit', {
    initial: [initialToken(generation, 1)],
    transitions: [
      effect('search', {
        take: { text: request },
        read: { generation },
        give: allOf({ found }),
        failed: ({ message }, { text, generation: now }) => ({
          found: { generation: now, text: `${text}: ${message}` },
        }),
        run: async ({ text, generation: now }) => ({ found: { generation: now, text } }),
      }),
      pure('correct', {
        take: { correction, generation },
        give: allOf({ generation }),
        run: ({ generation: now }) => ({ generation: now + 1 }),
      }),
      pure('reply.quickly', {
        take: { found },
        give: allOf({ replies }),
        run: ({ found: { text } }) => ({ replies: text }),
      }),
      pure('reply', {
        take: { found },
        read: { generation },
        give: oneOf({ replies, dropped }),
        run: ({ found: one, generation: now }) =>
          one.generation === now ? { replies: one.text } : { dropped: one.text },
      }),
    ],
  }),
);
