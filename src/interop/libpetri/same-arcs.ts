import type { In, Out, Timing, Transition as LibpetriTransition } from 'libpetri';

/**
 * True if two transitions have the same arcs, timing and priority. Their actions are not compared.
 */
export function hasSameArcs(a: LibpetriTransition, b: LibpetriTransition): boolean {
  return JSON.stringify(describeArcs(a)) === JSON.stringify(describeArcs(b));
}

function describeArcs(t: LibpetriTransition): unknown {
  return {
    name: t.name,
    inputs: t.inputSpecs.map(describeInput),
    outputs: t.outputSpec === null ? null : describeOutput(t.outputSpec),
    inhibitors: t.inhibitors.map(({ place }) => place.name),
    reads: t.reads.map(({ place }) => place.name),
    resets: t.resets.map(({ place }) => place.name),
    timing: describeTiming(t.timing),
    priority: t.priority,
    match: t.matchSpec?.keys.map(({ place }) => place.name) ?? null,
  };
}

function describeInput(input: In): unknown {
  const count =
    input.type === 'exactly' ? input.count : input.type === 'at-least' ? input.minimum : 0;
  return [input.type, input.place.name, count, input.guard !== undefined];
}

function describeOutput(out: Out): unknown {
  switch (out.type) {
    case 'place':
      return out.place.name;
    case 'and':
    case 'xor':
      return [out.type, out.children.map(describeOutput)];
    case 'timeout':
      return [out.type, out.afterMs, describeOutput(out.child)];
    case 'forward-input':
      return [out.type, out.from.name, out.to.name];
    default:
      return out satisfies never;
  }
}

function describeTiming(timing: Timing): unknown {
  return { ...timing };
}
