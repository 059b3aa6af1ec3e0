import { isRecord, omitUndefined } from '../../core/internal.ts';
import type { QuiescentMarking } from './property.ts';
import { PropertySyntaxError } from './property-syntax-error.ts';

/** An argument of a property as data, and where it stands: a character of a text, or a path in JSON. */
export interface Argument {
  readonly value: unknown;
  readonly at: string;
}

/** The arguments of a property by the name of their parameter. Every method checks the type of the argument. */
export class PropertyArguments {
  readonly #form: string;
  readonly #arguments: ReadonlyMap<string, Argument>;
  /** Where the property ends or stands: the place of an argument that is missing. */
  readonly #end: string;

  constructor(form: string, args: ReadonlyMap<string, Argument>, end: string) {
    this.#form = form;
    this.#arguments = args;
    this.#end = end;
  }

  readonly name = (parameter: string): string => {
    const { value, at } = this.#require(parameter);
    return toName(value) ?? this.#fail(at, `${parameter} must be a name; it is ${show(value)}`);
  };

  readonly names = (parameter: string): readonly string[] => {
    const { value, at } = this.#require(parameter);
    const names = toNames(Array.isArray(value) ? value : [value]);
    if (names !== undefined) return names;
    return this.#fail(at, `${parameter} must be names; it is ${show(value)}`);
  };

  readonly count = (parameter: string): number => {
    const { value, at } = this.#require(parameter);
    if (typeof value === 'number') return value;
    return this.#fail(at, `${parameter} must be a number; it is ${show(value)}`);
  };

  /** Numbers by name. A list of names stands for one of each. */
  readonly counts = (parameter: string): Readonly<Record<string, number>> => {
    const { value, at } = this.#require(parameter);
    const problem = `${parameter} must be numbers by name, such as {a: 2}; it is ${show(value)}`;
    if (!isRecord(value)) {
      const names = this.names(parameter);
      const twice = names.find((name, index) => names.indexOf(name) < index);
      if (twice !== undefined)
        return this.#fail(at, `${parameter} names "${twice}" twice; write {${twice}: 2} to count`);
      return Object.fromEntries(names.map((name) => [name, 1]));
    }
    const entries = Object.entries(value).flatMap(([name, count]): [string, number][] =>
      typeof count === 'number' ? [[name, count]] : [],
    );
    if (entries.length < Object.keys(value).length) return this.#fail(at, problem);
    return Object.fromEntries(entries);
  };

  readonly markings = (parameter: string): readonly (string | QuiescentMarking)[] => {
    const { value, at } = this.#require(parameter);
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.map((one) => toName(one) ?? this.#toMarking(parameter, one, at));
  };

  readonly flag = (parameter: string): boolean => {
    const { value, at } = this.#require(parameter);
    if (typeof value === 'boolean') return value;
    return this.#fail(at, `${parameter} must be true or false; it is ${show(value)}`);
  };

  /** Returns what `read` reads, or undefined if the argument is missing. */
  optional<T>(parameter: string, read: (parameter: string) => T): T | undefined {
    return this.#arguments.has(parameter) ? read(parameter) : undefined;
  }

  #require(parameter: string): Argument {
    const argument = this.#arguments.get(parameter);
    if (argument !== undefined) return argument;
    return this.#fail(this.#end, `${parameter} is missing`);
  }

  #toMarking(parameter: string, value: unknown, at: string): QuiescentMarking {
    const problem = `${parameter} must be places or markings, such as {marked: [a], allowed: [b]}; it is ${show(value)}`;
    if (!isRecord(value)) return this.#fail(at, problem);
    const { marked = [], allowed, ...others } = value;
    const lists = [marked, allowed ?? []].map(toNames);
    const [places, more] = lists;
    if (places === undefined || more === undefined || Object.keys(others).length > 0)
      return this.#fail(at, problem);
    return {
      marked: places,
      ...omitUndefined({ allowed: allowed === undefined ? undefined : more }),
    };
  }

  #fail(at: string, problem: string): never {
    throw new PropertySyntaxError(at, problem, `Write ${this.#form}.`);
  }
}

function toNames(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.map(toName).filter((name) => name !== undefined);
  return names.length === value.length ? names : undefined;
}

function toName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
