import type { In, Out, Timing, Transition as LibpetriTransition } from 'libpetri';

/** True when two transitions have the same arcs, clock and priority, whatever they do. */
export function sameArcs(a: LibpetriTransition, b: LibpetriTransition): boolean {
  return JSON.stringify(arcsOf(a)) === JSON.stringify(arcsOf(b));
}

function arcsOf(t: LibpetriTransition): unknown {
  return {
    name: t.name,
    inputs: t.inputSpecs.map(inputFacts),
    outputs: t.outputSpec === null ? null : outputFacts(t.outputSpec),
    inhibitors: t.inhibitors.map(({ place }) => place.name),
    reads: t.reads.map(({ place }) => place.name),
    resets: t.resets.map(({ place }) => place.name),
    timing: timingFacts(t.timing),
    priority: t.priority,
    match: t.matchSpec?.keys.map(({ place }) => place.name) ?? null,
  };
}

function inputFacts(input: In): unknown {
  const count =
    input.type === 'exactly' ? input.count : input.type === 'at-least' ? input.minimum : 0;
  return [input.type, input.place.name, count, input.guard !== undefined];
}

function outputFacts(out: Out): unknown {
  switch (out.type) {
    case 'place':
      return out.place.name;
    case 'and':
    case 'xor':
      return [out.type, out.children.map(outputFacts)];
    case 'timeout':
      return [out.type, out.afterMs, outputFacts(out.child)];
    case 'forward-input':
      return [out.type, out.from.name, out.to.name];
    default:
      return out satisfies never;
  }
}

function timingFacts(timing: Timing): unknown {
  return { ...timing };
}
