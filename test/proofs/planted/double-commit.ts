import { allOf, compile, effect, net, place, pure } from '../../../src/net/index.ts';
import type { CompiledNet, Transition } from '../../../src/net/index.ts';

const request = place('request', { environment: true });
const committed = place('committed');

/** An effect that commits unless the other has, and a transition that notes it afterwards. */
function branch(name: string): {
  readonly ready: typeof committed;
  readonly transitions: readonly Transition[];
} {
  const ready = place(`${name}.ready`);
  const sent = place(`${name}.sent`);
  return {
    ready,
    transitions: [
      effect(`${name}.commit`, {
        take: { ready },
        unless: [committed],
        give: allOf({ sent }),
        failed: () => ({ sent: null }),
        run: async () => ({ sent: null }),
      }),
      pure(`${name}.note`, {
        take: { sent },
        give: allOf({ committed }),
        run: () => ({ committed: null }),
      }),
      pure(`${name}.drop`, {
        take: { ready },
        read: { committed },
        give: allOf({}),
        run: () => ({}),
      }),
    ],
  };
}

const primary = branch('primary');
const fallback = branch('fallback');

/** Both effects can start before the first has ended: an inhibitor of an effect is judged when it starts. */
export const planted: CompiledNet = compile(
  net('double-commit', {
    transitions: [
      pure('split', {
        take: { request },
        give: allOf({ primary: primary.ready, fallback: fallback.ready }),
        run: () => ({ primary: null, fallback: null }),
      }),
      ...primary.transitions,
      ...fallback.transitions,
    ],
  }),
);
