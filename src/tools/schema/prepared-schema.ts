import { dereference } from '@cfworker/json-schema';
import { encodeJson, InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { JsonSchema } from '../../models/index.ts';
import { linearPattern, type LinearPattern } from './linear-pattern.ts';

/** The JSON Schema versions with different semantics. */
export type SchemaDraft = '4' | '7' | '2019-09' | '2020-12';

/** A schema ready for validation: references resolved, patterns compiled, size bounded. */
export interface PreparedSchema {
  readonly root: JsonObject;
  readonly draft: SchemaDraft;
  /** The schema to which a reference of a subschema leads. */
  readonly target: (subschema: JsonObject, keyword: '$ref' | '$recursiveRef') => Json | undefined;
  readonly pattern: (source: string) => LinearPattern;
}

const MAX_SCHEMA_CHARACTERS = 500_000;
const MAX_SCHEMA_DEPTH = 200;
const MAX_SUBSCHEMAS = 20_000;
/** The largest cost of all patterns of a schema together. */
const MAX_PATTERNS_COST = 50_000;

/**
 * Prepares a schema for validation. References are resolved inside the schema only; nothing is
 * fetched.
 * @throws InvalidInputError if it is too large or too deep, a pattern cannot run in linear time, or
 *   a reference leads outside the schema, to nothing, or back to itself
 */
export function prepareSchema(schema: JsonSchema): PreparedSchema {
  const { length } = encodeJson(schema, 'schema');
  if (length > MAX_SCHEMA_CHARACTERS) {
    const problem = `has ${length} characters; at most ${MAX_SCHEMA_CHARACTERS} are allowed.`;
    throw new InvalidInputError('schema', problem);
  }
  assertDepth(schema);
  // The library writes markers into the schema, and ours is frozen.
  const root = structuredClone(schema);
  const subschemas = dereferenceSchema(root);
  if (Object.keys(subschemas).length > MAX_SUBSCHEMAS) {
    throw new InvalidInputError('schema', `has more than ${MAX_SUBSCHEMAS} parts.`);
  }
  const patterns = new Map<string, LinearPattern>();
  let cost = 0;
  const compile = (source: string): LinearPattern => {
    const known = patterns.get(source);
    if (known !== undefined) return known;
    const pattern = linearPattern(source);
    cost += pattern.cost;
    if (cost > MAX_PATTERNS_COST) {
      throw new InvalidInputError('schema', 'has too many repetitions in its patterns.');
    }
    patterns.set(source, pattern);
    return pattern;
  };
  const target: PreparedSchema['target'] = (subschema, keyword) => {
    const uri = readMarks(subschema)[keyword === '$ref' ? ABSOLUTE_REF : ABSOLUTE_RECURSIVE_REF];
    return uri === undefined ? undefined : subschemas[uri];
  };
  for (const subschema of Object.values(subschemas)) {
    if (!isJsonObject(subschema)) continue;
    const { $ref, pattern, patternProperties = {} } = subschema;
    if ($ref !== undefined && target(subschema, '$ref') === undefined) {
      const problem = `$ref ${JSON.stringify($ref)} leads to nothing inside the schema.`;
      throw new InvalidInputError('schema', problem);
    }
    if (typeof pattern === 'string') compile(pattern);
    if (isJsonObject(patternProperties)) Object.keys(patternProperties).forEach(compile);
  }
  const prepared = { root, draft: detectDraft(schema), target, pattern: compile };
  assertNoEndlessReference(Object.values(subschemas), prepared);
  return prepared;
}

/** The schemas that apply to the same value as the schema that contains them, the `$ref` first. */
export function inPlaceSchemas(
  subschema: JsonObject,
  { target, draft }: Pick<PreparedSchema, 'target' | 'draft'>,
): readonly Json[] {
  const { $ref, dependentSchemas, dependencies } = subschema;
  const referred = $ref === undefined ? undefined : target(subschema, '$ref');
  if (referred !== undefined && (draft === '4' || draft === '7')) return [referred];
  return [
    ...(referred === undefined ? [] : [referred]),
    ...['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => listAt(subschema, keyword)),
    ...['not', 'if', 'then', 'else'].flatMap((keyword) => subschema[keyword] ?? []),
    ...(isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : []),
    ...(isJsonObject(dependencies) ? Object.values(dependencies) : []),
  ];
}

/** The array at a keyword; empty if there is none. */
export function listAt(schema: JsonObject, keyword: string): readonly Json[] {
  const list = schema[keyword];
  return Array.isArray(list) ? (list as readonly Json[]) : [];
}

const ABSOLUTE_REF = '__absolute_ref__';
const ABSOLUTE_RECURSIVE_REF = '__absolute_recursive_ref__';

// Reads the markers that the library wrote. They are not enumerable.
function readMarks(subschema: object): { readonly [mark: string]: string | undefined } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library's own type has them as members of every schema
  return subschema as { readonly [mark: string]: string | undefined };
}

function dereferenceSchema(root: JsonSchema): Readonly<Record<string, Json>> {
  try {
    return dereference(root);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError('schema', `its references cannot be read: ${reason}`, { cause });
  }
}

function assertDepth(schema: JsonSchema): void {
  let level: readonly Json[] = [schema];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_SCHEMA_DEPTH) {
      throw new InvalidInputError('schema', `is nested deeper than ${MAX_SCHEMA_DEPTH} levels.`);
    }
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values<Json>(value) : [],
    );
  }
}

/**
 * Rejects a reference that leads back to its schema without descending into the value: validation
 * would never end.
 */
function assertNoEndlessReference(
  subschemas: readonly Json[],
  prepared: Pick<PreparedSchema, 'target' | 'draft'>,
): void {
  const done = new Set<Json>();
  for (const start of subschemas) {
    const inside = new Set<Json>();
    const stack: { readonly schema: Json; readonly rest: Iterator<Json> }[] = [];
    const enter = (schema: Json): void => {
      if (!isJsonObject(schema) || done.has(schema)) return;
      if (inside.has(schema)) {
        const { $ref = '#' } = schema;
        const problem = `the $ref ${JSON.stringify($ref)} leads back to itself, so no value can be validated by it.`;
        throw new InvalidInputError('schema', problem);
      }
      inside.add(schema);
      stack.push({ schema, rest: inPlaceSchemas(schema, prepared)[Symbol.iterator]() });
    };
    enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.rest.next();
      if (next.done !== true) enter(next.value);
      else {
        done.add(top.schema);
        inside.delete(top.schema);
        stack.pop();
      }
    }
  }
}

function detectDraft(schema: JsonSchema): SchemaDraft {
  const uri = typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (/draft-0?4/.test(uri)) return '4';
  if (/draft-0?[67]/.test(uri)) return '7';
  return uri.includes('2019-09') ? '2019-09' : '2020-12';
}
