import { omitUndefined } from '../../core/internal.ts';
import {
  atMost,
  atMostOnce,
  atMostOneCommits,
  bounded,
  canFire,
  costAtMost,
  deadlockFree,
  eventOutBounded,
  eventually,
  eventuallyAnswered,
  everyNodeReachable,
  isolated,
  joinedOrDeadLettered,
  joinsComplete,
  mutualExclusion,
  neverFiresAfter,
  neverStale,
  neverTakes,
  noFireAfterEndInvocation,
  noStaleCommits,
  noToolAfterInterrupt,
  placeBound,
  precedes,
  reaskBudgetIsBounded,
  settles,
  unreachable,
} from './create-property.ts';
import type { Property, QuiescentMarking } from './property.ts';
import type { PropertyArguments } from './property-arguments.ts';

/** A parameter of a property. */
export interface Parameter {
  readonly name: string;
  /** How the help shows it: `PLACE`, or `PLACE, …` for several. */
  readonly value: string;
  /** True for a list, whose items need no brackets in a text. */
  readonly isList: boolean;
  /** True if it is written `name: value`. */
  readonly isNamed: boolean;
  readonly isOptional: boolean;
}

/** One property of the language: what it states, its parameters, and how it is made from its arguments. */
export interface PropertyForm {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** What the property states, for the documentation. */
  readonly states: string;
  readonly create: (args: PropertyArguments) => Property;
}

const one = (name: string, value: string): Parameter => ({
  name,
  value,
  isList: false,
  isNamed: false,
  isOptional: false,
});
const several = (name: string, value: string): Parameter => ({
  ...one(name, `${value}, …`),
  isList: true,
});
const optional = (parameter: Parameter): Parameter => ({ ...parameter, isOptional: true });
const option = (name: string, value: string): Parameter => ({
  ...optional(one(name, value)),
  isNamed: true,
});
const named = (name: string, value: string): Parameter => ({ ...one(name, value), isNamed: true });

const places = several('places', 'PLACE');
const transitions = several('transitions', 'TRANSITION');
const max = one('max', 'MAX');
const per = option('per', 'PLACE');
const resting = option('resting', '[MARKING, …]');

const readPer = (args: PropertyArguments): { readonly per?: readonly string[] } =>
  omitUndefined({ per: args.optional('per', args.names) });
const readUntil = (args: PropertyArguments): { readonly until?: readonly string[] } =>
  omitUndefined({ until: args.optional('until', args.names) });
/** Markings of an option: several names together are one marking that requires no token. */
const readResting = (args: PropertyArguments): { readonly resting?: readonly QuiescentMarking[] } =>
  omitUndefined({
    resting: args.optional('resting', (name) => deadlockFree(args.markings(name)).resting),
  });

/** The language of properties. The parser, the formatter, the help and the documentation follow this table. */
export const propertyForms: readonly PropertyForm[] = [
  {
    name: 'deadlockFree',
    parameters: [optional(several('resting', 'PLACE'))],
    states: 'the net stops only where it may rest',
    create: (args) => deadlockFree(args.optional('resting', args.markings) ?? []),
  },
  {
    name: 'placeBound',
    parameters: [places, max, option('each', 'true')],
    states: 'these places together never hold more than MAX tokens; with `each`, none of them does',
    create: (args) =>
      placeBound(
        args.names('places'),
        args.count('max'),
        omitUndefined({ each: args.optional('each', args.flag) }),
      ),
  },
  {
    name: 'bounded',
    parameters: [optional(max)],
    states: 'no place of the net holds more than MAX tokens. Default: 10',
    create: (args) => bounded(args.optional('max', args.count)),
  },
  {
    name: 'mutualExclusion',
    parameters: [several('places', 'PLACE, PLACE')],
    states: 'at most one of these places is marked',
    create: (args) => mutualExclusion(...args.names('places')),
  },
  {
    name: 'unreachable',
    parameters: [several('marked', 'PLACE'), option('empty', '[PLACE, …]')],
    states:
      'no marking has these tokens, while the places of `empty` have none; `{PLACE: 2}` counts',
    create: (args) => unreachable(args.counts('marked'), args.optional('empty', args.names) ?? []),
  },
  {
    name: 'atMost',
    parameters: [transitions, max, per],
    states: 'these transitions together fire at most MAX times, in total or per token of a place',
    create: (args) => atMost(args.names('transitions'), args.count('max'), readPer(args)),
  },
  {
    name: 'atMostOnce',
    parameters: [one('transition', 'TRANSITION'), per],
    states: 'this transition fires at most once, in total or per token of a place',
    create: (args) => atMostOnce(args.name('transition'), readPer(args)),
  },
  {
    name: 'atMostOneCommits',
    parameters: [transitions, per],
    states: 'at most one of these transitions fires, in total or per token of a place',
    create: (args) => atMostOneCommits(args.names('transitions'), readPer(args)),
  },
  {
    name: 'costAtMost',
    parameters: [one('costs', '{TRANSITION: COST, …}'), max, per],
    states: 'the firings of these transitions cost at most MAX, in total or per token of a place',
    create: (args) => costAtMost(args.counts('costs'), args.count('max'), readPer(args)),
  },
  {
    name: 'reaskBudgetIsBounded',
    parameters: [one('ask', 'TRANSITION'), one('budget', 'MAX'), named('per', 'PLACE')],
    states: 'a turn asks the model again at most MAX times: TRANSITION fires at most MAX + 1 times',
    create: (args) =>
      reaskBudgetIsBounded({
        ask: args.name('ask'),
        budget: args.count('budget'),
        per: args.names('per'),
      }),
  },
  {
    name: 'eventOutBounded',
    parameters: [one('place', 'PLACE'), max, per],
    states: 'a place or an outlet receives at most MAX tokens, in total or per token of a place',
    create: (args) => eventOutBounded(args.name('place'), args.count('max'), readPer(args)),
  },
  {
    name: 'precedes',
    parameters: [one('first', 'EVENT'), transitions, option('each', 'true'), per],
    states:
      'these transitions never fire before the event; with `each`, every firing needs an event of its own',
    create: (args) =>
      precedes(args.name('first'), args.names('transitions'), {
        ...readPer(args),
        ...omitUndefined({ each: args.optional('each', args.flag) }),
      }),
  },
  {
    name: 'neverFiresAfter',
    parameters: [transitions, one('place', 'EVENT'), option('until', 'EVENT')],
    states: 'after the event, these transitions never start, or not before `until`',
    create: (args) =>
      neverFiresAfter(args.names('transitions'), args.name('place'), readUntil(args)),
  },
  {
    name: 'noFireAfterEndInvocation',
    parameters: [transitions, one('place', 'EVENT'), option('until', 'EVENT')],
    states: 'the same, for effects after the signal that ends a turn',
    create: (args) =>
      noFireAfterEndInvocation(args.names('transitions'), args.name('place'), readUntil(args)),
  },
  {
    name: 'noToolAfterInterrupt',
    parameters: [
      several('tools', 'TRANSITION'),
      one('interrupt', 'EVENT'),
      option('until', 'EVENT'),
    ],
    states: 'the same, for the transitions that start a tool after an interrupt of the turn',
    create: (args) =>
      noToolAfterInterrupt(args.names('tools'), args.name('interrupt'), readUntil(args)),
  },
  {
    name: 'noStaleCommits',
    parameters: [],
    states: 'no commit is older than the latest generation; generations are found from the net',
    create: () => noStaleCommits(),
  },
  {
    name: 'neverStale',
    parameters: [
      several('commits', 'TRANSITION'),
      named('renewals', '[TRANSITION, …]'),
      named('work', '[PLACE, …]'),
    ],
    states: 'these transitions never fire with work that is older than the last renewal',
    create: (args) =>
      neverStale(args.names('commits'), {
        renewals: args.names('renewals'),
        work: args.names('work'),
      }),
  },
  {
    name: 'neverTakes',
    parameters: [several('by', 'TRANSITION'), named('from', '[PLACE, …]')],
    states: 'these transitions never fire with a token of these places',
    create: (args) => neverTakes(args.names('by'), { from: args.names('from') }),
  },
  {
    name: 'joinsComplete',
    parameters: [optional(several('ends', 'TRANSITION'))],
    states:
      'no join has only some of its inputs when one of these transitions fires. Default: the transitions that give up the wait, found from the net',
    create: (args) => joinsComplete(...(args.optional('ends', args.names) ?? [])),
  },
  {
    name: 'joinedOrDeadLettered',
    parameters: [
      one('from', 'PLACE'),
      one('joined', 'PLACE'),
      option('deadLetters', '[PLACE, …]'),
      option('through', '[PLACE, …]'),
    ],
    states: 'each token that leaves a place arrives at one of these ends, exactly once',
    create: (args) =>
      joinedOrDeadLettered({
        from: args.name('from'),
        joined: args.name('joined'),
        ...omitUndefined({
          deadLetters: args.optional('deadLetters', args.names),
          through: args.optional('through', args.names),
        }),
      }),
  },
  {
    name: 'eventuallyAnswered',
    parameters: [one('asked', 'EVENT'), several('answered', 'EVENT'), resting],
    states: 'within the bounds, an open question neither rests nor cycles',
    create: (args) =>
      eventuallyAnswered(args.name('asked'), args.names('answered'), readResting(args)),
  },
  {
    name: 'eventually',
    parameters: [several('events', 'EVENT'), option('after', 'EVENT'), resting],
    states:
      'one of the events happens, from the start or after another event, if each step that stays possible happens',
    create: (args) =>
      eventually(args.names('events'), {
        ...omitUndefined({ after: args.optional('after', args.name) }),
        ...readResting(args),
      }),
  },
  {
    name: 'isolated',
    parameters: [one('one', 'PART'), one('other', 'PART'), option('through', '[PLACE, …]')],
    states:
      'nothing flows between two parts of the net, such as two agents: the names that start with `PART/`. A place that one part changes and the other depends on is a flow, also through transitions of neither part',
    create: (args) =>
      isolated(
        args.name('one'),
        args.name('other'),
        omitUndefined({ through: args.optional('through', args.names) }),
      ),
  },
  {
    name: 'canFire',
    parameters: [transitions],
    states:
      'each of these transitions fires in some order of events, for some declared outcomes; a refutation names the others, without a trace',
    create: (args) => canFire(...args.names('transitions')),
  },
  {
    name: 'everyNodeReachable',
    parameters: [several('nodes', 'TRANSITION')],
    states: 'the same, for the transitions that begin the nodes of a workflow',
    create: (args) => everyNodeReachable(...args.names('nodes')),
  },
  {
    name: 'settles',
    parameters: [],
    states:
      'every settling ends below the limit of the executor: no firings repeat, or add tokens, without end',
    create: () => settles(),
  },
];

/** Shows a form in one line, such as `placeBound(PLACE, …, MAX)`. Options are in brackets. */
export function formatForm({ name, parameters }: PropertyForm): string {
  const shown = parameters.map((parameter) => {
    const text = parameter.isNamed ? `${parameter.name}: ${parameter.value}` : parameter.value;
    return parameter.isOptional ? `[${text}]` : text;
  });
  return `${name}(${shown.join(', ')})`;
}

/** Returns the arguments of a property by parameter, and the form that makes the same property from them. */
export function readArguments(property: Property): {
  readonly form: string;
  readonly args: Readonly<Record<string, unknown>>;
} {
  switch (property.kind) {
    case 'deadlockFree':
      return { form: 'deadlockFree', args: { resting: property.resting } };
    case 'placeBound': {
      const { places: list, max: most, each } = property;
      return { form: 'placeBound', args: { places: list, max: most, each } };
    }
    case 'bounded':
      return { form: 'bounded', args: { max: property.max } };
    case 'mutualExclusion':
      return { form: 'mutualExclusion', args: { places: property.places } };
    case 'unreachable': {
      const { marked, empty } = property;
      return { form: 'unreachable', args: { marked, empty } };
    }
    case 'atMost': {
      const { transitions: list, max: most, per: renewal, costs } = property;
      if (costs === undefined)
        return { form: 'atMost', args: { transitions: list, max: most, per: renewal } };
      return { form: 'costAtMost', args: { costs, max: most, per: renewal } };
    }
    case 'givesAtMost': {
      const { place, max: most, per: renewal } = property;
      return { form: 'eventOutBounded', args: { place, max: most, per: renewal } };
    }
    case 'precedes': {
      const { first, transitions: list, each, per: renewal } = property;
      return {
        form: 'precedes',
        args: { first, transitions: list, each: each ? true : undefined, per: renewal },
      };
    }
    case 'neverFiresAfter': {
      const { transitions: list, place, until } = property;
      return { form: 'neverFiresAfter', args: { transitions: list, place, until } };
    }
    case 'neverStale': {
      const { commits, renewals, work } = property;
      return { form: 'neverStale', args: { commits, renewals, work } };
    }
    case 'neverTakes':
      return { form: 'neverTakes', args: { by: property.by, from: property.places } };
    case 'joinsComplete':
      return { form: 'joinsComplete', args: { ends: property.ends } };
    case 'noStaleCommits':
      return { form: 'noStaleCommits', args: {} };
    case 'joinedOrDeadLettered': {
      const { from, joined, deadLetters, through } = property;
      return { form: 'joinedOrDeadLettered', args: { from, joined, deadLetters, through } };
    }
    case 'eventuallyAnswered': {
      const { asked, answered, resting: markings } = property;
      return { form: 'eventuallyAnswered', args: { asked, answered, resting: markings } };
    }
    case 'eventually': {
      const { events, after, resting: markings } = property;
      return { form: 'eventually', args: { events, after, resting: markings } };
    }
    case 'isolated': {
      const [first, second] = property.parts;
      return {
        form: 'isolated',
        args: { one: first, other: second, through: property.through },
      };
    }
    case 'settles':
      return { form: 'settles', args: {} };
    case 'canFire':
      return { form: 'canFire', args: { transitions: property.transitions } };
    default:
      return property satisfies never;
  }
}
