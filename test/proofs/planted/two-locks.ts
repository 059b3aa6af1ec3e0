import { allOf, compile, effect, initialToken, net, place } from '../../../src/net/index.ts';
import type { CompiledNet, Transition } from '../../../src/net/index.ts';

const first = place('lock.first');
const second = place('lock.second');

/** A worker that takes one lock, then the other, and returns both. */
function worker(name: string, locks: readonly [typeof first, typeof first]): readonly Transition[] {
  const job = place(`${name}.in`, { environment: true });
  const held = place(`${name}.held`);
  const done = place(`${name}.done`);
  const [one, other] = locks;
  return [
    effect(`${name}.lock`, {
      take: { job, one },
      give: allOf({ held }),
      failed: () => ({ held: null }),
      run: async () => ({ held: null }),
    }),
    effect(`${name}.work`, {
      take: { held, other },
      give: allOf({ done, one, other }),
      failed: () => ({ done: null, one: null, other: null }),
      run: async () => ({ done: null, one: null, other: null }),
    }),
  ];
}

/** Two workers that take two locks in opposite order: each can wait for the lock of the other. */
export const planted: CompiledNet = compile(
  net('two-locks', {
    initial: [initialToken(first, null), initialToken(second, null)],
    transitions: [...worker('a', [first, second]), ...worker('b', [second, first])],
  }),
);
