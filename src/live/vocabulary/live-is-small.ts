import type * as v from 'valibot';
import type { CompiledNet } from '../../net/index.ts';
import { MAX_SIGNAL_BYTES } from './signal-schema.ts';

/** The areas of the places that signals, commands and replies pass through. */
const LIVE_AREAS = new Set([
  'link',
  'live',
  'voice',
  'utterance',
  'reply',
  'play',
  'playback',
  'silence',
  'command',
]);

/** Schemas that accept a value of any kind or size, bytes included. */
const OPEN_TYPES = new Set([
  'any',
  'unknown',
  'custom',
  'instance',
  'blob',
  'file',
  'loose_object',
]);

/**
 * Checks that no token of a live place can hold media: every schema states that it accepts at most 64 KB, and has no
 * member that accepts bytes or text of any length.
 * @returns the problems, one sentence each
 */
export function liveIsSmall({ places }: CompiledNet): readonly string[] {
  return [...places.values()].flatMap(({ name, schema, kind }) => {
    const [area = ''] = name.split('.');
    if (!LIVE_AREAS.has(area) || schema === undefined || kind === 'running') return [];
    if (!isValibot(schema) || !statesSize(schema))
      return [`"${name}" accepts tokens of any size: build its schema with signalSchema()`];
    return findOpenMembers(schema).map(
      (member) =>
        `"${name}" accepts anything in "${member}": a live place holds at most ${MAX_SIGNAL_BYTES} bytes and no media`,
    );
  });
}

interface Node {
  readonly type: string;
  readonly entries?: Readonly<Record<string, Node>>;
  readonly pipe?: readonly Node[];
  readonly wrapped?: Node;
  readonly item?: Node;
}

function isValibot(schema: unknown): schema is v.GenericSchema {
  return typeof schema === 'object' && schema !== null && 'type' in schema && '~run' in schema;
}

/** True if a schema has the metadata of `signalSchema` or `smallJson`. */
function statesSize(schema: Node): boolean {
  return (schema.pipe ?? []).some(
    (action) =>
      action.type === 'metadata' &&
      'metadata' in action &&
      typeof action.metadata === 'object' &&
      action.metadata !== null &&
      'maxBytes' in action.metadata &&
      Number(action.metadata.maxBytes) <= MAX_SIGNAL_BYTES,
  );
}

/** The paths of members that accept bytes, or text of any length. */
function findOpenMembers(schema: Node, path: readonly string[] = []): readonly string[] {
  const { type, entries, wrapped, item, pipe = [] } = schema;
  const here = path.join('.');
  if (entries !== undefined)
    return Object.entries(entries).flatMap(([key, member]) =>
      findOpenMembers(member, [...path, key]),
    );
  const inner = wrapped ?? item;
  if (inner !== undefined) return findOpenMembers(inner, path);
  if (OPEN_TYPES.has(type)) return statesSize(schema) ? [] : [here];
  return type === 'string' && !pipe.some((action) => action.type === 'max_length') ? [here] : [];
}
