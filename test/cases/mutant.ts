import assert from 'node:assert/strict';
import type { Net } from 'petrichor/net';
import type { Transition } from '../../src/net/index.ts';

/** The same net with one transition changed. */
export function withChanged(
  net: Net,
  name: string,
  change: (t: Transition) => Partial<Transition>,
): Net {
  assert.ok(
    net.transitions.some((t) => t.name === name),
    `no transition "${name}"`,
  );
  return {
    ...net,
    transitions: net.transitions.map((t) => (t.name === name ? { ...t, ...change(t) } : t)),
  };
}

/** The same net, in which one transition forgets to empty one place. */
export function withoutReset(net: Net, name: string, place: string): Net {
  return withChanged(net, name, (t) => {
    assert.ok(
      t.reset.some((one) => one.name === place),
      `"${name}" does not reset "${place}"`,
    );
    return { reset: t.reset.filter((one) => one.name !== place) };
  });
}

/** The same net, in which one transition forgets one inhibitor. */
export function withoutInhibitor(net: Net, name: string, place: string): Net {
  return withChanged(net, name, (t) => {
    assert.ok(
      t.unless.some((one) => one.name === place),
      `"${name}" has no inhibitor "${place}"`,
    );
    return { unless: t.unless.filter((one) => one.name !== place) };
  });
}
