import { isPlainObject } from '../json/json.ts';
import { memberPath } from '../errors/member-path.ts';
import { UnknownFieldError } from '../errors/unknown-field-error.ts';

/** The names that an options object may have: `true` for a value of any kind, a table for an object of options. */
export type OptionNames<T> = { readonly [Name in keyof T]-?: true | NameTable };

/** The options of one function or class. */
export interface OptionTable {
  /** Names the function or class in errors. */
  readonly typeName: string;
  readonly names: NameTable;
  /** What others call an option, with the name that it has here: `requireConfirmation: 'needsApproval'`. */
  readonly otherNames: Readonly<Record<string, string>>;
}

interface NameTable {
  readonly [name: string]: true | NameTable;
}

/**
 * A table of all options that a type has. It does not compile when a name is missing or too much, so it cannot fall
 * behind the type.
 */
export function optionTable<T>(
  typeName: string,
  names: OptionNames<T>,
  otherNames: Readonly<Record<string, string>> = {},
): OptionTable {
  return { typeName, names: { ...names }, otherNames };
}

/**
 * Refuses options that nobody reads. Only plain objects are judged, and only their own members: an instance of a class
 * and what an object inherits may have members of their own. A member that is undefined says nothing.
 * @throws UnknownFieldError naming the option and the nearest known one
 */
export function checkOptions({ typeName, names, otherNames }: OptionTable, options: unknown): void {
  check(names, otherNames, options, typeName);
}

function check(
  names: NameTable,
  otherNames: OptionTable['otherNames'],
  options: unknown,
  path: string,
): void {
  if (
    typeof options !== 'object' ||
    options === null ||
    Array.isArray(options) ||
    !isPlainObject(options)
  )
    return;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const rule = Object.hasOwn(names, name) ? names[name] : undefined;
    if (rule === undefined) {
      const ours = Object.hasOwn(otherNames, name) ? otherNames[name] : undefined;
      throw new UnknownFieldError(path, name, Object.keys(names), value, ours);
    }
    if (rule !== true) check(rule, otherNames, value, memberPath(path, name));
  }
}
