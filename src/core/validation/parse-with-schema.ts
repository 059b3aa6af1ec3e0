import * as v from 'valibot';
import { frozenJson } from '../json/frozen-json.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { memberPath } from '../errors/member-path.ts';
import { assertKnownFields } from './assert-known-fields.ts';

/** Options of `parseWithSchema`. */
export interface ParseOptions {
  /**
   * What to do with fields that the schema does not have. `refuse`: throws, for input of clients. `drop`: omits them, for
   * data of other systems. Default: `refuse`.
   */
  readonly unknownFields?: 'refuse' | 'drop';
}

/**
 * Validates a value with a schema and returns the output of the schema.
 * @throws InvalidInputError with the path of the first invalid value.
 * @throws UnknownFieldError for a field that the schema does not have, unless `unknownFields` is `drop`.
 */
export function parseWithSchema<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  field: string,
  { unknownFields = 'refuse' }: ParseOptions = {},
): T {
  if (unknownFields === 'refuse') assertKnownFields(schema, value, field);
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const { path, message } = deepestIssue(result.issues[0], field);
  throw new InvalidInputError(path, `${message}.`);
}

/**
 * Validates a value from outside with a schema, after copying it as JSON.
 * @throws InvalidInputError with the path of the first invalid value.
 * @throws UnknownFieldError for a field that the schema does not have.
 * @throws NotSerializableError if the value is not JSON.
 */
export function parseJsonWithSchema<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  field: string,
): T {
  return parseWithSchema(schema, frozenJson(value, field), field);
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** For a union, selects the issue of the option whose field is present and invalid, and reports that one. */
function deepestIssue(issue: v.BaseIssue<unknown>, field: string): Problem {
  const keys = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)));
  const path = keys.reduce(memberPath, field);
  const best = (issue.issues ?? []).find(
    (one) => one.path?.every(({ value }) => value !== undefined) === true,
  );
  return best === undefined ? { path, message: describeIssue(issue) } : deepestIssue(best, path);
}

/** Says `is missing` for a required field that the object does not have. */
function describeIssue({ message, received }: v.BaseIssue<unknown>): string {
  const isMissing = received === 'undefined' && message.startsWith('Invalid key: Expected ');
  return isMissing ? 'is missing' : message;
}
