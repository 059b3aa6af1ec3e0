import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { describeValue } from '../../core/internal.ts';
import type { JsonSchema } from '../../models/index.ts';

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const SCHEMAS_BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions'];
const LISTS_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const SCHEMAS = ['additionalProperties', 'contains', 'else', 'if', 'not', 'propertyNames', 'then'];

/**
 * Checks that the keywords of a JSON Schema have values of the right kind. A validator ignores a keyword whose value it
 * cannot read, so a mistake would let every value pass.
 * @throws InvalidInputError for `field`, with the path of the keyword and its value
 */
export function checkSchemaKeywords(schema: JsonSchema, field: string): void {
  const fail = (path: string, value: Json | undefined, expected: string): never => {
    throw new InvalidInputError(
      field,
      `is not a JSON Schema: "${path}" must be ${expected}; it is ${describeValue(value)}. Correct it.`,
    );
  };
  const check = (value: Json | undefined, path: string): void => {
    if (typeof value === 'boolean') return;
    if (!isJsonObject(value)) {
      fail(path, value, 'a schema');
      return;
    }
    const at = (keyword: string): string => (path === '' ? keyword : `${path}.${keyword}`);
    for (const keyword of SCHEMAS_BY_NAME) {
      const members = value[keyword];
      if (members === undefined) continue;
      if (!isJsonObject(members)) fail(at(keyword), members, 'an object of schemas');
      else for (const [name, one] of Object.entries(members)) check(one, `${at(keyword)}.${name}`);
    }
    for (const keyword of LISTS_OF_SCHEMAS) {
      const list = value[keyword];
      if (list === undefined) continue;
      if (!isList(list)) fail(at(keyword), list, 'a list of schemas');
      else for (const [index, one] of list.entries()) check(one, `${at(keyword)}[${index}]`);
    }
    for (const keyword of SCHEMAS)
      if (value[keyword] !== undefined) check(value[keyword], at(keyword));
    const { items, required, type, enum: allowed } = value;
    if (isList(items))
      for (const [index, one] of items.entries()) check(one, `${at('items')}[${index}]`);
    else if (items !== undefined) check(items, at('items'));
    if (required !== undefined && !(isList(required) && required.every(isString)))
      fail(at('required'), required, 'a list of names');
    if (allowed !== undefined && !isList(allowed)) fail(at('enum'), allowed, 'a list of values');
    const types = isList(type) ? type : [type];
    if (type !== undefined && !types.every((one) => isString(one) && TYPES.includes(one)))
      fail(at('type'), type, `one of ${TYPES.join(', ')}, or a list of them`);
  };
  check(schema, '');
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isString(value: Json | undefined): value is string {
  return typeof value === 'string';
}
