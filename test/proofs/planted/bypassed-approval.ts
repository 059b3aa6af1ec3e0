import * as z from 'zod';
import { allOf, compile, effect, net, oneOf, outlet, place, pure } from '../../../src/net/index.ts';
import type { CompiledNet } from '../../../src/net/index.ts';

const asked = place('charge.in', z.number(), { environment: true });
const answer = place('approval.in', z.boolean(), { environment: true });
const waiting = place('charge.waiting', z.number());
const approved = place('charge.approved', z.number());
const refused = outlet('charge.refused', z.number());
const charged = outlet('charge.done', z.number());

/** A charge waits for the approval of a person, but one transition goes around it. */
export const planted: CompiledNet = compile(
  net('bypassed-approval', {
    transitions: [
      pure('charge.ask', {
        take: { amount: asked },
        give: allOf({ waiting }),
        run: ({ amount }) => ({ waiting: amount }),
      }),
      pure('charge.approve', {
        take: { amount: waiting, answer },
        give: oneOf({ approved, refused }),
        run: ({ amount, answer: yes }) => (yes ? { approved: amount } : { refused: amount }),
      }),
      pure('charge.skip', {
        take: { amount: waiting },
        priority: -1,
        give: allOf({ approved }),
        run: ({ amount }) => ({ approved: amount }),
      }),
      effect('charge.send', {
        take: { amount: approved },
        give: allOf({ charged }),
        failed: (_failure, { amount }) => ({ charged: amount }),
        run: async ({ amount }) => ({ charged: amount }),
      }),
    ],
  }),
);
