import assert from 'node:assert/strict';
import { allOf } from '../../src/net/index.ts';
import type { Net, Transition } from '../../src/net/index.ts';

/** Returns the net with one transition changed. */
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

/** Returns the net with one reset arc removed. */
export function withoutReset(net: Net, name: string, place: string): Net {
  return withChanged(net, name, (t) => {
    assert.ok(
      t.reset.some((one) => one.name === place),
      `"${name}" does not reset "${place}"`,
    );
    return { reset: t.reset.filter((one) => one.name !== place) };
  });
}

/** Returns the net with one inhibitor arc removed. */
export function withoutInhibitor(net: Net, name: string, place: string): Net {
  return withChanged(net, name, (t) => {
    assert.ok(
      t.unless.some((one) => one.name === place),
      `"${name}" has no inhibitor "${place}"`,
    );
    return { unless: t.unless.filter((one) => one.name !== place) };
  });
}

/** Returns the net with one output of an `allOf` transition removed. */
export function withoutOutput(net: Net, name: string, output: string): Net {
  return withChanged(net, name, ({ give }) => {
    assert.ok(give.give === 'allOf' && output in give.outputs, `"${name}" gives no "${output}"`);
    const { [output]: _, ...outputs } = give.outputs;
    return { give: { ...give, outputs } };
  });
}

/** Returns the net with one input of a transition removed. */
export function withoutInput(net: Net, name: string, input: string): Net {
  return withChanged(net, name, ({ take }) => {
    assert.ok(input in take, `"${name}" takes no "${input}"`);
    const { [input]: _, ...rest } = take;
    return { take: rest };
  });
}

/** Returns the net with one input read instead of taken. */
export function readingInstead(net: Net, name: string, input: string): Net {
  return withChanged(net, name, ({ take, read }) => {
    const { [input]: taken, ...rest } = take;
    assert.ok(taken !== undefined, `"${name}" takes no "${input}"`);
    return { take: rest, read: { ...read, [input]: taken } };
  });
}

/** Returns the net without one transition. */
export function withoutTransition(net: Net, name: string): Net {
  const changed = withChanged(net, name, () => ({}));
  return { ...changed, transitions: changed.transitions.filter((t) => t.name !== name) };
}

/** Returns the net in which one alternative of a `oneOf` transition has no outputs. */
export function losing(net: Net, name: string, alternative: string): Net {
  return withChanged(net, name, ({ give }) => {
    assert.ok(
      give.give === 'oneOf' && alternative in give.alternatives,
      `"${name}" has no alternative "${alternative}"`,
    );
    return {
      give: { ...give, alternatives: { ...give.alternatives, [alternative]: allOf({}) } },
    };
  });
}
