import { readOwn } from '../json/is-record.ts';
import { isPlainObject } from '../json/json.ts';
import { memberPath } from '../errors/member-path.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { UnknownFieldError } from '../errors/unknown-field-error.ts';
import { describeValue } from './describe-value.ts';

/** The allowed names of an options object: `true` for a value of any type, or a table for a nested options object. */
export type OptionNames<T> = { readonly [Name in keyof T]-?: true | NameTable };

/** The options of one function or class. */
export interface OptionTable {
  /** The name of the function or class in errors. */
  readonly typeName: string;
  readonly names: NameTable;
  /** Names that other libraries use for an option, mapped to the name here: `requireConfirmation: 'needsApproval'`. */
  readonly otherNames: Readonly<Record<string, string>>;
}

interface NameTable {
  readonly [name: string]: true | NameTable;
}

/**
 * Declares the table of all options of a type. A missing or extra name is a TypeScript error, so the table always matches
 * the type.
 */
export function optionTable<T>(
  typeName: string,
  names: OptionNames<T>,
  otherNames: Readonly<Record<string, string>> = {},
): OptionTable {
  return { typeName, names: { ...names }, otherNames };
}

/**
 * Rejects unknown options, and options that are not an object. Undefined options and members are accepted. It checks only
 * plain objects and their own members, because instances of classes may have further members.
 * @throws InvalidInputError if the options are not an object
 * @throws UnknownFieldError with the unknown option and the most similar known one
 */
export function checkOptions({ typeName, names, otherNames }: OptionTable, options: unknown): void {
  if (options !== undefined && !isOptions(options))
    throw new InvalidInputError(
      typeName,
      `takes options as an object; it got ${describeValue(options)}. Omit it, or pass { … }.`,
    );
  check(names, otherNames, options, typeName);
}

/**
 * Rejects unknown options, and a definition that is missing or not an object. For functions whose options are required.
 * @throws InvalidInputError, UnknownFieldError
 */
export function checkDefinition(table: OptionTable, definition: unknown): void {
  if (!isOptions(definition))
    throw new InvalidInputError(
      table.typeName,
      `needs an object with its options; it is ${describeValue(definition)}. Call ${table.typeName}({ … }).`,
    );
  checkOptions(table, definition);
}

function isOptions(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
    const rule = readOwn(names, name);
    if (rule === undefined) {
      const suggestion = readOwn(otherNames, name);
      throw new UnknownFieldError(path, name, Object.keys(names), value, suggestion);
    }
    if (rule !== true) check(rule, otherNames, value, memberPath(path, name));
  }
}
