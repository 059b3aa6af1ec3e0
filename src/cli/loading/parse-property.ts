import {
  atMost,
  atMostOnce,
  atMostOneCommits,
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  mutualExclusion,
  neverFiresAfter,
  placeBound,
  unreachable,
} from '../../verify/index.ts';
import type { Property } from '../../verify/index.ts';
import { UsageError } from '../command/usage-error.ts';

/** Creates a property from the arguments in its parentheses; undefined if their number is wrong. */
type Factory = (args: readonly string[]) => Property | undefined;

const namesArgument =
  (make: (names: readonly string[]) => Property, least = 1): Factory =>
  (args) =>
    args.length >= least ? make(args) : undefined;

const oneArgument =
  (make: (name: string) => Property): Factory =>
  ([name, ...more]) =>
    name === undefined || more.length > 0 ? undefined : make(name);

const countedArgument =
  (make: (names: readonly string[], max: number) => Property | undefined): Factory =>
  (args) => {
    const max = args.at(-1) ?? '';
    return args.length > 1 && /^\d+$/.test(max) ? make(args.slice(0, -1), Number(max)) : undefined;
  };

const factories: Readonly<Record<string, readonly [form: string, make: Factory]>> = {
  deadlockFree: ['deadlockFree(PLACE, …)', namesArgument((places) => deadlockFree(places))],
  placeBound: ['placeBound(PLACE, …, MAX)', countedArgument(placeBound)],
  mutualExclusion: [
    'mutualExclusion(PLACE, PLACE, …)',
    namesArgument((places) => mutualExclusion(...places), 2),
  ],
  unreachable: [
    'unreachable(PLACE, …)',
    namesArgument((places) => unreachable(Object.fromEntries(places.map((place) => [place, 1])))),
  ],
  atMostOnce: ['atMostOnce(TRANSITION)', oneArgument((t) => atMostOnce(t))],
  atMostOneCommits: [
    'atMostOneCommits(TRANSITION, …)',
    namesArgument((ts) => atMostOneCommits(ts)),
  ],
  atMost: ['atMost(TRANSITION, …, MAX)', countedArgument((ts, max) => atMost(ts, max))],
  eventOutBounded: [
    'eventOutBounded(PLACE, MAX)',
    countedArgument(([place = '', ...more], max) =>
      more.length > 0 ? undefined : eventOutBounded(place, max),
    ),
  ],
  neverFiresAfter: [
    'neverFiresAfter(TRANSITION, …, PLACE)',
    namesArgument((args) => neverFiresAfter(args.slice(0, -1), args.at(-1) ?? ''), 2),
  ],
  eventuallyAnswered: [
    'eventuallyAnswered(ASKED, ANSWERED, …)',
    namesArgument(([request = '', ...answers]) => eventuallyAnswered(request, answers), 2),
  ],
};

/** The forms of the properties, for the help. */
export const propertyForms: readonly string[] = Object.values(factories).map(([form]) => form);

/**
 * Parses a property of the command line: the name of a default property, or a call as in a program.
 * @throws UsageError if it is unknown or its arguments do not fit
 */
export function parseProperty(text: string, known: Readonly<Record<string, Property>>): Property {
  const knownProperty = Object.hasOwn(known, text) ? known[text] : undefined;
  if (knownProperty !== undefined) return knownProperty;
  const [, name = text, args] = /^\s*(\w+)\s*\((.*)\)\s*$/s.exec(text) ?? [];
  const factory = Object.hasOwn(factories, name) ? factories[name] : undefined;
  if (factory === undefined) {
    const choices = [...Object.keys(known), ...propertyForms].join(', ');
    throw new UsageError(`There is no property "${text}". The properties are ${choices}.`, 'prove');
  }
  const [form, make] = factory;
  const property = args === undefined ? undefined : make(splitArguments(args));
  if (property === undefined)
    throw new UsageError(`--property must be ${form}; it is "${text}".`, 'prove');
  return property;
}

function splitArguments(args: string): readonly string[] {
  return args.trim() === '' ? [] : args.split(',').map((arg) => arg.trim());
}
