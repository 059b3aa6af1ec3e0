import { PnmlFormatError } from './pnml-errors.ts';
import type { LimitCheck } from './pnml-limits.ts';
import { readGraph } from './read-graph.ts';
import type { PnmlArc, PnmlNode } from './read-graph.ts';
import type { SkeletonArc, SkeletonBuilder } from './skeleton-builder.ts';
import { Declarations } from './sorts.ts';
import type { Sort, Variable } from './sorts.ts';
import { readStructure, TermParser } from './terms.ts';
import type { VariableBinding, ColorTerm, Condition, Multiset } from './terms.ts';
import { onlyChild, optionalChild } from './xml-element.ts';
import type { XmlElement } from './xml-element.ts';

/** A colored place: its sort, and the names of its places, by color. */
interface ColoredPlace {
  readonly sort: Sort;
  readonly names: readonly string[];
}

/** An arc of a colored net. Without a term it concerns every color of its place. */
interface ColoredArc {
  readonly arc: PnmlArc;
  readonly place: ColoredPlace;
  readonly term: ColorTerm | undefined;
}

/**
 * Unfolds a colored net: each place becomes one place for each of its colors, and each transition becomes one transition
 * for each assignment of colors to its variables for which its condition holds.
 */
export function unfoldColoredNet(
  net: XmlElement,
  builder: SkeletonBuilder,
  limits: LimitCheck,
): void {
  const graph = readGraph(net, {
    net: ['declaration'],
    place: ['type', 'hlinitialMarking'],
    transition: ['condition'],
    arc: ['hlinscription'],
  });
  const declarations = new Declarations(net, limits);
  const parser = new TermParser(declarations, limits);
  const places = new Map(
    graph.places.map((node) => [node, unfoldPlace(node, declarations, parser, builder)]),
  );
  const byTransition = Map.groupBy(graph.arcs, ({ transition }) => transition);
  for (const node of graph.transitions) {
    const arcs = (byTransition.get(node) ?? []).flatMap((arc): readonly ColoredArc[] => {
      const place = places.get(arc.place);
      return place === undefined ? [] : [{ arc, place, term: readArcTerm(arc, place, parser) }];
    });
    unfoldTransition(node, arcs, { declarations, parser, builder, limits });
  }
}

function unfoldPlace(
  node: PnmlNode,
  declarations: Declarations,
  parser: TermParser,
  builder: SkeletonBuilder,
): ColoredPlace {
  const type = readStructure(onlyChild(node.element, 'type'));
  if (type === undefined)
    throw new PnmlFormatError('the type is empty. Name a sort.', node.element.at);
  const sort = declarations.readSort(type);
  const marking = optionalChild(node.element, 'hlinitialMarking');
  const term = marking && readStructure(marking);
  const tokens: Multiset =
    term === undefined ? new Map() : parser.parseMultiset(term, sort).evaluate(new Map());
  const names = Array.from({ length: sort.size }, (_, color) =>
    builder.addPlace(node, sort.toLabel(color), tokens.get(color) ?? 0),
  );
  return { sort, names };
}

function readArcTerm(
  { kind, element }: PnmlArc,
  { sort }: ColoredPlace,
  parser: TermParser,
): ColorTerm | undefined {
  const inscription = optionalChild(element, 'hlinscription');
  const term = inscription && readStructure(inscription);
  if (kind === 'reset') {
    if (term === undefined) return undefined;
    throw new PnmlFormatError(
      'a reset arc empties its place and has no inscription. Remove the inscription.',
      element.at,
    );
  }
  if (term !== undefined) return parser.parseMultiset(term, sort);
  if (sort.size === 1) return undefined;
  throw new PnmlFormatError(
    'the arc has no hlinscription. Add the term of its tokens.',
    element.at,
  );
}

interface UnfoldContext {
  readonly declarations: Declarations;
  readonly parser: TermParser;
  readonly builder: SkeletonBuilder;
  readonly limits: LimitCheck;
}

function unfoldTransition(
  node: PnmlNode,
  arcs: readonly ColoredArc[],
  { declarations, parser, builder, limits }: UnfoldContext,
): void {
  const { at } = node.element;
  const label = optionalChild(node.element, 'condition');
  const structure = label && readStructure(label);
  const conjuncts = structure === undefined ? [] : listConjuncts(structure, parser);
  const ids = new Set(
    [...conjuncts, ...arcs.flatMap(({ term }) => term ?? [])].flatMap(({ variables }) => [
      ...variables,
    ]),
  );
  const variables = [...ids].flatMap((id) => declarations.variables.get(id) ?? []);
  const ready = orderConjuncts(variables, conjuncts);
  const binding = new Map<string, number>();
  const assign = (index: number): void => {
    if (!(ready[index] ?? []).every((condition) => condition.holds(binding))) return;
    const variable = variables[index];
    if (variable === undefined) {
      builder.addTransition(node, describeBinding(variables, binding), evaluateArcs(arcs, binding));
      return;
    }
    for (let color = 0; color < variable.sort.size; color++) {
      limits.countSteps(1, at);
      binding.set(variable.id, color);
      assign(index + 1);
    }
  };
  assign(0);
}

function listConjuncts(element: XmlElement, parser: TermParser): readonly Condition[] {
  if (element.name !== 'and') return [parser.parseCondition(element)];
  return element.children.flatMap((subterm) =>
    subterm.name === 'subterm' && subterm.children[0] !== undefined && subterm.children.length === 1
      ? listConjuncts(subterm.children[0], parser)
      : [parser.parseCondition(element)],
  );
}

/** By number of assigned variables: the conditions that can be decided with them, and not with fewer. */
function orderConjuncts(
  variables: readonly Variable[],
  conjuncts: readonly Condition[],
): readonly (readonly Condition[])[] {
  const position = new Map(variables.map(({ id }, index) => [id, index + 1]));
  const ready: Condition[][] = Array.from({ length: variables.length + 1 }, () => []);
  for (const conjunct of conjuncts) {
    const last = Math.max(0, ...[...conjunct.variables].map((id) => position.get(id) ?? 0));
    ready[last]?.push(conjunct);
  }
  return ready;
}

function describeBinding(variables: readonly Variable[], binding: VariableBinding): string {
  return variables
    .map(({ id, label, sort }) => `${label}=${sort.toLabel(binding.get(id) ?? 0)}`)
    .join(',');
}

function evaluateArcs(
  arcs: readonly ColoredArc[],
  binding: VariableBinding,
): readonly SkeletonArc[] {
  return arcs.flatMap(({ arc, place, term }) => {
    const colors = term?.evaluate(binding) ?? new Map(place.names.map((_, color) => [color, 1]));
    return [...colors].map(([color, weight]): SkeletonArc => {
      const { kind, isInput, element } = arc;
      return { kind, isInput, place: place.names[color] ?? '', weight, at: element.at };
    });
  });
}
