import {
  dereference,
  validate,
  type OutputUnit,
  type Schema,
  type SchemaDraft,
} from '@cfworker/json-schema';
import type { JsonSchema } from '../models/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import { accepted, refused, type ArgsIssue, type ArgsParser } from './parsed-args.ts';

/**
 * Judges arguments by a JSON Schema of draft 4, 7, 2019-09 or 2020-12, as its `$schema` says; 2020-12 when it says nothing.
 * @throws InvalidToolError when a pattern is not a regular expression, or a reference leads out of the schema: nothing is fetched.
 */
export function jsonSchemaParser(jsonSchema: JsonSchema, toolName: string): ArgsParser {
  const judge = jsonSchemaJudge(jsonSchema, toolName);
  return (args) => {
    const issues = judge(args);
    return issues.length === 0 ? accepted(args) : refused(issues);
  };
}

/** Tells what is wrong with a value, by a JSON Schema as above; nothing is, when the list is empty. @throws InvalidToolError */
export function jsonSchemaJudge(
  jsonSchema: JsonSchema,
  toolName: string,
): (value: unknown) => readonly ArgsIssue[] {
  // The library writes marks into the schema it is given, and ours is frozen.
  const schema: Schema = structuredClone(jsonSchema);
  const draft = draftOf(jsonSchema);
  const subschemas = dereferenced(schema, toolName);
  return (value) => {
    // All problems, not only the first: the model then needs one more call instead of several.
    const { valid, errors } = validate(value, schema, draft, subschemas, false);
    return valid ? [] : issuesOf(errors);
  };
}

type Subschemas = ReturnType<typeof dereference>;

function dereferenced(schema: Schema, toolName: string): Subschemas {
  try {
    const subschemas = dereference(schema);
    for (const subschema of Object.values(subschemas)) {
      if (typeof subschema === 'object') checkSubschema(subschema, subschemas);
    }
    return subschemas;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidToolError(
      toolName,
      `its parameters are not a usable JSON Schema: ${reason}.`,
      {
        cause,
      },
    );
  }
}

// Both faults would otherwise show only when a call reaches them.
function checkSubschema(subschema: Schema, subschemas: Subschemas): void {
  const { __absolute_ref__: target, pattern, patternProperties = {} } = subschema;
  if (target !== undefined && !(target in subschemas)) {
    throw new Error(`$ref "${subschema.$ref}" leads to nothing inside the schema`);
  }
  const patterns = Object.keys(patternProperties);
  for (const source of pattern === undefined ? patterns : [pattern, ...patterns]) {
    RegExp(source, 'u');
  }
}

function draftOf(schema: JsonSchema): SchemaDraft {
  const named = typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  if (/draft-0?4/.test(named)) return '4';
  if (/draft-0?[67]/.test(named)) return '7';
  return named.includes('2019-09') ? '2019-09' : '2020-12';
}

// These only say that something inside is wrong; what is wrong inside is said by an error of its own.
const CONTAINERS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'prefixItems',
  'allOf',
  '$ref',
  'if',
  'dependentSchemas',
]);

function issuesOf(errors: readonly OutputUnit[]): readonly ArgsIssue[] {
  const leaves = errors.filter(({ keyword }) => !CONTAINERS.has(keyword));
  return (leaves.length > 0 ? leaves : errors).map(({ instanceLocation, keyword, error }) => ({
    path: pathOf(instanceLocation),
    message: keyword === 'false' ? 'is not allowed' : error.replace(/\.$/, ''),
  }));
}

function pathOf(pointer: string): readonly (string | number)[] {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}
