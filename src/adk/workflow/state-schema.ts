import { omitUndefined, isRecord } from '../../core/internal.ts';
import { PetrichorError } from '../../core/index.ts';
import type { Json, JsonObject, StateWrites } from '../../core/index.ts';
import { type ToolParameters, toJsonSchema, type ArgsParser } from '../../tools/index.ts';
import { createJsonSchemaParser } from '../../tools/internal.ts';

/**
 * A state change does not match the state schema. Nothing of that step was kept.
 * @remedy Correct the value, or add `key` to the schema.
 */
export class StateSchemaError extends PetrichorError {
  override readonly code = 'state_schema' as const;
  readonly key: string;

  constructor(key: string, problem: string) {
    super(`State "${key}" does not match the stateSchema: ${problem}`);
    this.key = key;
  }
}

/**
 * Creates a validator of state changes from an object schema, whose properties are the allowed keys. Keys with the
 * prefixes `app:`, `user:` and `temp:` are not checked.
 * @throws InvalidToolError if the schema is not an object schema
 */
export function createStateValidator(schema: ToolParameters): (writes: StateWrites) => void {
  const whole = toJsonSchema(schema, 'stateSchema');
  const { properties = {}, additionalProperties, $defs } = whole;
  const known: JsonObject = isRecord(properties) ? properties : {};
  const open = additionalProperties !== undefined && additionalProperties !== false;
  const parsers = new Map<string, ArgsParser>();
  const check = (key: string, value: unknown): void => {
    if (/^(?:app|user|temp):/.test(key)) return;
    if (!(key in known)) {
      if (open) return;
      const keys = Object.keys(known).join(', ') || '(none)';
      throw new StateSchemaError(key, `the schema has no such key. It has: ${keys}.`);
    }
    const parse = parsers.get(key) ?? createValueParser(known[key] ?? {}, $defs);
    parsers.set(key, parse);
    const parsed = parse({ value });
    if (!parsed.ok) throw new StateSchemaError(key, parsed.message);
  };
  return ({ set = {}, increment = {}, append = {} }) => {
    for (const [key, value] of Object.entries(set)) check(key, value);
    for (const [key, by] of Object.entries(increment)) check(key, by);
    for (const [key, items] of Object.entries(append)) check(key, [...items]);
  };
}

function createValueParser(schema: Json, $defs: Json | undefined): ArgsParser {
  const one = {
    type: 'object',
    properties: { value: schema },
    required: ['value'],
    ...omitUndefined({ $defs }),
  };
  return createJsonSchemaParser(one, 'stateSchema');
}
