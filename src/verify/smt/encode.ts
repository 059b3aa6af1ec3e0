import type { ExpandedNet } from '../system/expand.ts';
import { listNames } from '../properties/name-list.ts';
import type { NameOrNames } from '../properties/name-list.ts';
import type { QuiescentMarking, SearchedProperty } from '../properties/property.ts';
import { invariants, toLiteral } from './invariants.ts';
import { enabled, limitsFaults, toRules } from './rules.ts';
import { conjunction, counter, counterName } from './terms.ts';
import type { Term } from './terms.ts';
import type { Rule } from './rules.ts';

/** A query for a solver. The answer `sat` means that the property holds for everything in `over`. */
export interface SmtQuery {
  readonly text: string;
  readonly over: readonly string[];
}

/** The reason why a property cannot be encoded for a solver. */
export interface UnsupportedQuery {
  readonly reason: string;
}

/** The memory of a property, as a counter that the rules change. */
interface PropertyMemory {
  readonly initial: number;
  readonly after: (rule: Rule) => Term;
  /** Returns the condition under which a step violates the property. Undefined if it never does. */
  readonly violatedBy: (rule: Rule) => Term | undefined;
}

/**
 * Encodes a property as Horn clauses over an unknown invariant of the counters. The invariant holds initially, every
 * rule preserves it, and it excludes every violation of the property.
 */
export function encodeProperty(
  net: ExpandedNet,
  property: SearchedProperty,
  boundedEnvironment: boolean,
): SmtQuery | UnsupportedQuery {
  if (property.kind === 'eventuallyAnswered' || property.kind === 'eventually')
    return { reason: 'the solver decides only safety properties, and this is a liveness property' };
  if (property.kind === 'canFire')
    return { reason: 'the solver decides only what never happens, not what can happen' };
  if (property.kind === 'neverStale')
    return { reason: 'the solver does not follow which work is older than a generation' };
  if (net.tracked.labels.length > 0)
    return { reason: 'the solver does not follow the labels of tokens' };
  if (property.kind === 'neverTakes')
    return { reason: 'the solver does not follow which places a firing takes tokens from' };
  if (property.kind === 'settles')
    return { reason: 'the solver ignores phases, so it does not know where a settling ends' };
  const needsQuiescence =
    property.kind === 'deadlockFree' || property.kind === 'joinedOrDeadLettered';
  if (needsQuiescence && net.net.transitions.some(({ keyed }) => keyed))
    return {
      reason:
        'the net has matching() inputs, and the solver ignores keys: it cannot decide where the net stops',
    };
  const rules = toRules(net, boundedEnvironment);
  const initialCount = initialCounts(net);
  const memory = propertyMemory(net, property);
  const broken = markingViolation(net, property);
  const counters = [
    ...net.places.map(({ index }) => counter(index)),
    ...(boundedEnvironment ? net.environment.map((_, index) => counterName(-1 - index)) : []),
    ...(memory === undefined ? [] : ['m']),
  ];
  const facts = [
    // Counters are never negative.
    ...counters.filter((name) => name !== 'm').map((name) => `(>= ${name} 0)`),
    ...invariants(net, rules, initialCount, boundedEnvironment),
  ];
  const invariant = (state: readonly Term[]): Term => `(Inv ${state.join(' ')})`;
  const body = (extra: readonly Term[]): Term =>
    conjunction([invariant(counters), ...facts, ...extra]);
  const declared = counters.map((name) => `(${name} Int)`).join(' ');
  const first = [
    ...net.places.map(({ index }) => toLiteral(initialCount(index))),
    ...(boundedEnvironment ? net.environment.map(({ tokens }) => toLiteral(tokens)) : []),
    ...(memory === undefined ? [] : [toLiteral(memory.initial)]),
  ];
  const clauses: string[] = [`(assert ${invariant(first)})`];
  for (const rule of rules) {
    const free = rule.free.map((name) => ` (${name} Int)`).join('');
    const after = [
      ...net.places.map(({ index }) => rule.after.get(index) ?? counter(index)),
      ...(boundedEnvironment
        ? net.environment.map((_, index) => rule.after.get(-1 - index) ?? counterName(-1 - index))
        : []),
      ...(memory === undefined ? [] : [memory.after(rule)]),
    ];
    clauses.push(
      `; ${rule.label}`,
      `(assert (forall (${declared}${free}) (=> ${body(rule.guards)} ${invariant(after)})))`,
    );
    const violation = memory?.violatedBy(rule);
    if (violation !== undefined)
      clauses.push(
        `(assert (forall (${declared}${free}) (=> ${body([...rule.guards, violation])} false)))`,
      );
  }
  if (broken !== undefined)
    clauses.push(`(assert (forall (${declared}) (=> ${body([broken])} false)))`);
  const sorts = counters.map(() => 'Int').join(' ');
  const text = [
    '(set-logic HORN)',
    `(declare-fun Inv (${sorts}) Bool)`,
    ...clauses,
    '(check-sat)',
    '',
  ].join('\n');
  return { text, over: describeBounds(net, boundedEnvironment) };
}

function describeBounds(net: ExpandedNet, boundedEnvironment: boolean): readonly string[] {
  const names = net.environment.map(({ place }) => net.places[place]?.name ?? '');
  return [
    ...(boundedEnvironment
      ? net.environment.map(({ tokens }, index) => `<= ${tokens} in ${names[index] ?? ''}`)
      : names.map((name) => `any number in ${name}`)),
    ...net.empty.map((name) => `no token in ${name}`),
    'every declared number of tokens at once',
    'any number of attempts',
    ...(net.faults === 0 ? ['<= 0 faults'] : limitsFaults(net) ? ['any number of faults'] : []),
  ];
}

function initialCounts(net: ExpandedNet): (place: number) => number {
  const counts = new Map<number, number>();
  for (const { place, times } of net.net.initial) {
    const index = net.placeIndex.get(place.name);
    if (index !== undefined) counts.set(index, (counts.get(index) ?? 0) + times);
  }
  net.environment.forEach(({ tokens }, index) => counts.set(-1 - index, tokens));
  return (place) => counts.get(place) ?? 0;
}

/** Returns the condition under which a marking violates the property. Undefined for a property of steps only. */
function markingViolation(net: ExpandedNet, property: SearchedProperty): Term | undefined {
  const at = (name: string): Term => counter(net.placeIndex.get(name) ?? 0);
  switch (property.kind) {
    case 'placeBound':
      return property.each === true
        ? `(or ${property.places.map((name) => `(> ${at(name)} ${property.max})`).join(' ')})`
        : `(> ${sum(property.places.map(at))} ${property.max})`;
    case 'mutualExclusion': {
      const marked = property.places.map((name) => `(ite (> ${at(name)} 0) 1 0)`);
      return `(> ${sum(marked)} 1)`;
    }
    case 'unreachable':
      return conjunction([
        ...Object.entries(property.marked).map(([name, count]) => `(>= ${at(name)} ${count})`),
        ...property.empty.map((name) => `(= ${at(name)} 0)`),
      ]);
    case 'deadlockFree':
      return conjunction([
        stuck(net),
        ...property.resting.map((one) => `(not ${matchesMarking(net, one)})`),
      ]);
    case 'joinedOrDeadLettered': {
      const left = [...property.through.map((name) => `(> ${at(name)} 0)`), '(> m 0)'];
      return conjunction([stuck(net), `(or ${left.join(' ')})`]);
    }
    default:
      return undefined;
  }
}

/** The condition that nothing can happen without input from outside. */
function stuck(net: ExpandedNet): Term {
  const able = net.transitions.filter(({ timed }) => timed === 'no' || timed === 'finite');
  const running = net.places.filter(({ effect }) => effect >= 0);
  return conjunction([
    ...able.map((t) => `(not ${conjunction(enabled(t))})`),
    ...running.map(({ index }) => `(= ${counter(index)} 0)`),
  ]);
}

function matchesMarking(net: ExpandedNet, { marked, allowed = [] }: QuiescentMarking): Term {
  const may = new Set([...marked, ...allowed]);
  return conjunction([
    ...marked.map((name) => `(> ${counter(net.placeIndex.get(name) ?? 0)} 0)`),
    ...net.places
      .filter(({ name }) => !may.has(name))
      .map(({ index }) => `(= ${counter(index)} 0)`),
  ]);
}

function propertyMemory(net: ExpandedNet, property: SearchedProperty): PropertyMemory | undefined {
  const place = (name: string): number => net.placeIndex.get(name) ?? 0;
  const fires = (names: readonly string[]): ((rule: Rule) => boolean) => {
    const indexes = new Set(names.map((name) => net.net.byName.get(name)?.index ?? -2));
    return ({ begins }) => indexes.has(begins);
  };
  /** The memory before a step: 0 if the step takes from `per`. */
  const before = (per: NameOrNames | undefined): ((rule: Rule) => Term) => {
    const indexes = listNames(per).map(place);
    return ({ taken }) => zeroIf(indexes.flatMap((index) => taken.get(index) ?? []));
  };
  switch (property.kind) {
    case 'atMost': {
      const costs = new Map(
        property.transitions.map((name) => [
          net.net.byName.get(name)?.index ?? -2,
          property.costs?.[name] ?? 1,
        ]),
      );
      const since = before(property.per);
      const after = (rule: Rule): Term => {
        const cost = costs.get(rule.begins) ?? 0;
        return cost === 0 ? since(rule) : `(+ ${cost} ${since(rule)})`;
      };
      return {
        initial: 0,
        after,
        violatedBy: (rule) =>
          (costs.get(rule.begins) ?? 0) > 0 ? `(> ${after(rule)} ${property.max})` : undefined,
      };
    }
    case 'givesAtMost': {
      const since = before(property.per);
      const after = (rule: Rule): Term => {
        const tokens = rule.given.get(property.place);
        return tokens === undefined ? since(rule) : `(+ ${since(rule)} ${tokens})`;
      };
      return {
        initial: 0,
        after,
        violatedBy: (rule) =>
          rule.given.has(property.place) ? `(> ${after(rule)} ${property.max})` : undefined,
      };
    }
    case 'neverFiresAfter': {
      const forbidden = fires(property.transitions);
      const { until } = property;
      const initially = net.net.initial.some((one) => one.place.name === property.place);
      return {
        initial: initially ? 1 : 0,
        after: (rule) => {
          const rest = zeroIf(listNames(until).flatMap((name) => eventIn(net, rule, name) ?? []));
          const begun = eventIn(net, rule, property.place);
          return begun === undefined ? rest : `(ite (> ${begun} 0) 1 ${rest})`;
        },
        violatedBy: (rule) => (forbidden(rule) ? '(= m 1)' : undefined),
      };
    }
    case 'precedes': {
      const follows = fires(property.transitions);
      const since = before(property.per);
      return {
        initial: 0,
        after: (rule) => {
          const happened = eventIn(net, rule, property.first);
          const seen = happened === undefined ? since(rule) : `(+ ${since(rule)} ${happened})`;
          if (!property.each) return `(ite (> ${seen} 0) 1 0)`;
          return follows(rule) ? `(- ${seen} 1)` : seen;
        },
        violatedBy: (rule) => (follows(rule) ? `(<= ${since(rule)} 0)` : undefined),
      };
    }
    case 'joinedOrDeadLettered': {
      const from = place(property.from);
      const ends = [property.joined, ...property.deadLetters];
      const after = (rule: Rule): Term => {
        const asked = rule.taken.get(from);
        const answered = ends.flatMap((name) => rule.given.get(name) ?? []);
        const open = asked === undefined ? 'm' : `(+ m ${asked})`;
        return answered.length === 0 ? open : `(- ${open} ${answered.join(' ')})`;
      };
      return {
        initial: 0,
        after,
        violatedBy: (rule) =>
          ends.some((name) => rule.given.has(name)) ? `(< ${after(rule)} 0)` : undefined,
      };
    }
    default:
      return undefined;
  }
}

function eventIn(net: ExpandedNet, rule: Rule, name: string): Term | undefined {
  const t = net.net.byName.get(name);
  if (t === undefined) return rule.given.get(name);
  return rule.begins === t.index ? '1' : undefined;
}

/** The memory, or 0 if one of these counts is positive. */
function zeroIf(counts: readonly Term[]): Term {
  return counts.reduce((memory, count) => `(ite (> ${count} 0) 0 ${memory})`, 'm');
}

function sum(terms: readonly Term[]): Term {
  return terms.length === 1 ? (terms[0] ?? '0') : `(+ ${terms.join(' ')})`;
}
