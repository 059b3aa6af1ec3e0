import { isRecord } from '../json/is-record.ts';
import * as v from 'valibot';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { memberPath } from '../errors/member-path.ts';
import { UnknownFieldError } from '../errors/unknown-field-error.ts';

/** The part of a valibot schema that this file reads. */
interface Node {
  readonly kind: string;
  readonly type: string;
  readonly pipe?: readonly Node[];
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly wrapped?: Node;
  readonly options?: readonly Node[];
  readonly key?: unknown;
  readonly value?: Node;
  readonly operation?: (value: unknown) => unknown;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Rejects the first field that a schema does not have, at any depth. All objects of the schema count as closed, except
 * `looseObject` and `record`. Values are not validated; the schema does that. It also rejects two things that valibot
 * accepts: a list where the schema has an object, and a record key that valibot drops silently.
 * @throws UnknownFieldError with the path of the field and the most similar known name.
 * @throws InvalidInputError for such a list or record key.
 */
export function assertKnownFields(
  schema: v.GenericSchema<unknown, unknown>,
  value: unknown,
  field: string,
): void {
  const unknown = findUnknown(schema, value);
  if (unknown === undefined) return;
  const { problem } = unknown;
  if (problem !== undefined)
    throw new InvalidInputError(unknown.path.reduce(memberPath, field), problem);
  const { path, known } = unknown;
  const place = path.slice(0, -1).reduce(memberPath, field);
  const name = String(path.at(-1));
  const otherName = OTHER_NAMES.get(name.replaceAll('_', '').toLowerCase());
  const suggestion = otherName !== undefined && known.includes(otherName) ? otherName : undefined;
  throw new UnknownFieldError(place, name, known, unknown.value, suggestion);
}

/** Names that other libraries use for a field, in lower case and without separators. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['instruction', 'system'],
  ['instructions', 'system'],
  ['prompt', 'system'],
  ['systemprompt', 'system'],
]);

interface Unknown {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
  readonly value: unknown;
  /** Set if the field is not unknown but invalid: the reason. */
  readonly problem?: string;
}

/** The keys that valibot drops from records. */
const DROPPED: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

function findUnknown(node: Node, value: unknown): Unknown | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (node.pipe !== undefined) return findInPipe(node.pipe, value);
  switch (node.type) {
    case 'object':
    case 'strict_object':
      return isRecord(value) ? findInObject(node.entries ?? {}, value) : unexpectedList(value);
    case 'loose_object':
      return isRecord(value)
        ? findInMembers(Object.entries(node.entries ?? {}), value)
        : unexpectedList(value);
    case 'record': {
      const { value: member } = node;
      if (!isRecord(value)) return unexpectedList(value);
      if (member === undefined) return undefined;
      const dropped = Object.keys(value).find((key) => DROPPED.has(key));
      if (dropped !== undefined) {
        const problem = 'is a reserved name: use another one.';
        return { path: [dropped], known: [], value: value[dropped], problem };
      }
      return findInMembers(
        Object.keys(value).map((key) => [key, member]),
        value,
      );
    }
    case 'array': {
      const { item } = node;
      if (!Array.isArray(value) || item === undefined) return undefined;
      return findFirst([...value.entries()], ([index, one]) =>
        prefixPath(index, findUnknown(item, one)),
      );
    }
    case 'union':
    case 'variant':
      return findInOptions(node, value);
    default:
      return node.wrapped === undefined ? undefined : findUnknown(node.wrapped, value);
  }
}

function unexpectedList(value: object): Unknown {
  return { path: [], known: [], value, problem: 'must be an object; it is a list.' };
}

function prefixPath(key: string | number, found: Unknown | undefined): Unknown | undefined {
  return found === undefined ? undefined : { ...found, path: [key, ...found.path] };
}

function findInObject(
  entries: Readonly<Record<string, Node>>,
  value: Members,
): Unknown | undefined {
  const known = Object.keys(entries);
  return findUnknownKey(known, value) ?? findInMembers(Object.entries(entries), value);
}

function findUnknownKey(known: readonly string[], value: Members): Unknown | undefined {
  const key = Object.keys(value).find((one) => !known.includes(one));
  return key === undefined ? undefined : { path: [key], known, value: value[key] };
}

function findInMembers(
  nodes: readonly (readonly [string, Node])[],
  value: Members,
): Unknown | undefined {
  return findFirst(nodes, ([key, node]) =>
    Object.hasOwn(value, key) ? prefixPath(key, findUnknown(node, value[key])) : undefined,
  );
}

/** Reports the field names of the input, even if a transformation in the pipe renamed them. */
function findInPipe(pipe: readonly Node[], input: object): Unknown | undefined {
  let value: unknown = input;
  for (const step of pipe) {
    if (step.kind === 'transformation' && step.operation !== undefined) {
      value = step.operation(value);
      continue;
    }
    if (step.kind !== 'schema') continue;
    const found = findUnknown(step, value);
    if (found !== undefined) return withInputName(found, input, value);
    // Later steps need a value that this step accepts. If it does not, the schema itself rejects the value.
    if (step !== pipe.at(-1) && !v.is(toSchema(step), value)) return undefined;
  }
  return undefined;
}

function withInputName(found: Unknown, input: object, value: unknown): Unknown {
  const [first, ...rest] = found.path;
  if (input === value || !isRecord(value) || typeof first !== 'string') return found;
  const inputName = Object.keys(input)[Object.keys(value).indexOf(first)];
  return inputName === undefined ? found : { ...found, path: [inputName, ...rest] };
}

/** For a union or variant, checks the option that most likely applies: the one that shares the most field names. */
function findInOptions(node: Node, value: object): Unknown | undefined {
  const options = (node.options ?? []).filter((one) => acceptsShape(one, value));
  const found = options.map((one) => ({ one, unknown: findUnknown(one, value) }));
  if (found.some(({ one, unknown }) => unknown === undefined && v.is(toSchema(one), value)))
    return undefined;
  const selected = found.filter(
    ({ one }) => node.type === 'variant' && isVariant(node, one, value),
  );
  const [best] = (selected.length > 0 ? selected : found)
    .map(({ one, unknown }) => ({ unknown, shared: sharedNames(one, value) }))
    .toSorted((a, b) => b.shared - a.shared);
  if (best === undefined) return undefined;
  const isSelected = selected.length > 0 || (node.type === 'union' && best.shared > 0);
  return isSelected ? best.unknown : findUnknownInAll(options, value);
}

/** If no option is likely, only a field that no option has is unknown. */
function findUnknownInAll(options: readonly Node[], value: object): Unknown | undefined {
  const names = options.map(listNames);
  if (!isRecord(value) || names.includes(undefined)) return undefined;
  return findUnknownKey([...new Set(names.flatMap((one) => one ?? []))], value);
}

function isVariant({ key }: Node, option: Node, value: object): boolean {
  const discriminator = getEntries(option)?.[String(key)];
  return (
    discriminator !== undefined && v.is(toSchema(discriminator), Reflect.get(value, String(key)))
  );
}

function sharedNames(option: Node, value: object): number {
  const names = listNames(option);
  return names === undefined ? 0 : Object.keys(value).filter((key) => names.includes(key)).length;
}

/** False for an option that is a primitive, and for a list option if the value is an object, or vice versa. */
function acceptsShape(node: Node, value: object): boolean {
  const [first = node] = node.pipe ?? [];
  if (first.wrapped !== undefined) return acceptsShape(first.wrapped, value);
  if (['array', 'tuple'].includes(first.type)) return Array.isArray(value);
  if (['object', 'strict_object', 'loose_object', 'record'].includes(first.type))
    return !Array.isArray(value);
  return !['string', 'number', 'boolean', 'literal', 'picklist', 'null'].includes(first.type);
}

function listNames(node: Node): readonly string[] | undefined {
  const entries = getEntries(node);
  return entries === undefined ? undefined : Object.keys(entries);
}

function getEntries(node: Node): Readonly<Record<string, Node>> | undefined {
  if (node.pipe === undefined) return node.entries;
  return node.pipe.find(({ entries }) => entries !== undefined)?.entries;
}

function findFirst<T>(
  items: readonly T[],
  find: (item: T) => Unknown | undefined,
): Unknown | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function toSchema(node: Node): v.GenericSchema<unknown, unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a node is a schema, seen by the members of its kind
  return node as unknown as v.GenericSchema<unknown, unknown>;
}
