import { isJsonObject, type Json } from '../../core/index.ts';
import type { JsonSchema } from '../model/tool-declaration.ts';
import { asSchema, isList, mapSubschemas, getTypes, without } from './subschemas.ts';

// Definitions with several references to each other would otherwise grow exponentially.
const MAX_INLINED = 2_000;
const MAX_PARTS = 20_000;
const MAX_DEPTH = 100;

/**
 * Replaces each `$ref` by its target. A recursive schema is unrolled once and then cut: deeper
 * levels accept any value of the type. Arguments are still validated by the original schema.
 */
export function dereference(schema: JsonSchema): JsonSchema {
  let inlined = 0;
  let parts = 0;
  return without(inline(schema, []), ['$defs', 'definitions']);

  function inline(subschema: JsonSchema, inside: readonly string[]): JsonSchema {
    parts += 1;
    const { $ref: ref } = subschema;
    if (typeof ref !== 'string') return mapSubschemas(subschema, (one) => inline(one, inside));
    const siblings = without(subschema, ['$ref']);
    const target = resolveRef(schema, ref);
    const tooDeep = inside.length > MAX_DEPTH || inside.filter((outer) => outer === ref).length > 1;
    const tooMany = ++inlined > MAX_INLINED || parts > MAX_PARTS;
    if (target === undefined) return inline(siblings, inside);
    if (tooDeep || tooMany) return { ...typeOnly(target), ...siblings };
    return inline({ ...target, ...siblings }, [...inside, ref]);
  }
}

/** The target of a reference inside a schema; undefined if it leads outside or to nothing. */
export function resolveRef(root: JsonSchema, ref: string): JsonSchema | undefined {
  if (!ref.startsWith('#')) return undefined;
  let found: Json | undefined = root;
  for (const key of ref.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    if (isList(found)) found = found[Number(name)];
    else found = isJsonObject(found) ? found[name] : undefined;
  }
  return found === undefined ? undefined : asSchema(found);
}

function typeOnly(schema: JsonSchema): JsonSchema {
  const [type] = getTypes(schema);
  return type === undefined ? {} : { type, description: 'And so on, in the same way.' };
}
