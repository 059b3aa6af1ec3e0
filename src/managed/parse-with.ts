import * as v from 'valibot';
import { frozenJson, InvalidInputError } from '../core/index.ts';

/** @throws InvalidInputError naming the path, NotSerialisableError */
export function parseWith<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  field: string,
): T {
  const result = v.safeParse(schema, frozenJson(value, field), { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = (issue.path ?? []).map(({ key }) =>
    typeof key === 'number' ? `[${key}]` : `.${String(key)}`,
  );
  throw new InvalidInputError(field + path.join(''), `${issue.message}.`);
}
