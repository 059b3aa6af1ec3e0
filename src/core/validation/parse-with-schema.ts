import * as v from 'valibot';
import { frozenJson } from '../json/frozen-json.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { memberPath } from '../errors/member-path.ts';
import { assertKnownFields } from './assert-known-fields.ts';

/** What to do with members of objects that the schema does not know. */
export interface ParseOptions {
  /** `refuse` what a client sends, which is the default; `drop` what is not ours to judge. */
  readonly unknownFields?: 'refuse' | 'drop';
}

/**
 * Reads a value with a schema.
 * @throws InvalidInputError naming the path, UnknownFieldError
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
 * Reads a value of outside, as JSON would give it back, with a schema.
 * @throws InvalidInputError naming the path, UnknownFieldError, NotSerializableError
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

/** Of several shapes that a value could have, the one whose member is there and wrong was meant. */
function deepestIssue(issue: v.BaseIssue<unknown>, field: string): Problem {
  const keys = (issue.path ?? []).map(({ key }) => (typeof key === 'number' ? key : String(key)));
  const path = keys.reduce(memberPath, field);
  const best = (issue.issues ?? []).find(
    (one) => one.path?.every(({ value }) => value !== undefined) === true,
  );
  return best === undefined ? { path, message: issue.message } : deepestIssue(best, path);
}
