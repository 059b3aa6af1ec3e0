import * as v from 'valibot';
import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import { parseJsonWithSchema } from '../../core/validation/parse-with-schema.ts';
import type { JsonObject } from '../../core/index.ts';
import { MAX_ITERATIONS } from '../../agents/internal.ts';
import { anyCaseObject } from './snake-case-keys.ts';
import type { ContentBlock, UserEvent } from '../interface/user-event.ts';

const name = v.pipe(v.string('must be text'), v.nonEmpty('must not be empty'));
/** The protocol's `type` is not needed: the members identify the kind of source. */
const source: v.GenericSchema<unknown, JsonObject> = anyCaseObject(
  v.object({
    type: v.exactOptional(v.picklist(['url', 'base64'], 'must be url or base64')),
    url: v.exactOptional(name),
    data: v.exactOptional(name),
    media_type: v.exactOptional(name),
  }),
);

const block: v.GenericSchema<unknown, ContentBlock> = anyCaseObject(
  v.variant(
    'type',
    [
      v.object({ type: v.literal('text'), text: v.string('must be text') }),
      v.object({ type: v.literal('image'), source }),
      v.object({ type: v.literal('file'), file_id: name }),
    ],
    'must have the type text, image or file',
  ),
);
/** A plain string is one text block. */
const blocks: v.GenericSchema<unknown, readonly ContentBlock[]> = v.pipe(
  v.union([v.string(), v.array(v.unknown())], 'must be text or a list of blocks'),
  v.transform((content) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  ),
  v.array(block),
);
const nonEmptyBlocks = v.pipe(
  blocks,
  v.check((content) => content.length > 0, 'must not be empty'),
);

const outcome = v.object({
  type: v.literal('user.define_outcome'),
  criteria: v.exactOptional(name),
  description: v.exactOptional(name),
  rubric: v.exactOptional(
    v.union(
      [
        name,
        v.pipe(
          v.object({ type: v.literal('text'), content: name }),
          v.transform(({ content }) => content),
        ),
      ],
      'must be text',
    ),
  ),
  max_iterations: v.exactOptional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(MAX_ITERATIONS, `must be at most ${MAX_ITERATIONS}`),
    ),
  ),
  complete_when_satisfied: v.exactOptional(v.boolean()),
});

const event: v.GenericSchema<unknown, UserEvent> = anyCaseObject(
  v.variant(
    'type',
    [
      v.object({
        type: v.literal('user.message'),
        content: nonEmptyBlocks,
        output_schema: v.exactOptional(
          v.custom<JsonObject>(isJsonObject, 'must be a JSON Schema of an object'),
        ),
      }),
      v.object({ type: v.literal('user.interrupt') }),
      v.object({
        type: v.literal('user.tool_confirmation'),
        tool_use_id: name,
        result: v.picklist(['allow', 'deny'], 'must be allow or deny'),
        fingerprint: v.exactOptional(v.string()),
        deny_message: v.exactOptional(v.string()),
      }),
      v.object({
        type: v.literal('user.custom_tool_result'),
        custom_tool_use_id: name,
        content: v.optional(blocks, []),
        is_error: v.exactOptional(v.boolean()),
      }),
      v.object({
        type: v.literal('user.tool_result'),
        tool_use_id: name,
        content: v.optional(blocks, []),
        is_error: v.exactOptional(v.boolean()),
      }),
      outcome,
    ],
    'must have a known type',
  ),
);

/**
 * Parses an event in snake case or camel case.
 * @throws InvalidInputError naming the invalid field
 */
export function parseUserEvent(value: unknown): UserEvent {
  const read = parseJsonWithSchema(event, value, 'event');
  if (read.type !== 'user.define_outcome') return read;
  const { criteria, description } = read;
  if ((criteria === undefined) === (description === undefined))
    throw new InvalidInputError('event', 'must have either criteria or a description.');
  return read;
}
