import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { ContentBlock, UserEvent } from '../../managed/index.ts';
import { component, field } from './component.ts';
import { nonEmptyText, text, unsupported } from './wire-schemas.ts';

const MAX_EVENTS_PER_SEND = 256;

const file = v.object({ type: v.literal('file'), file_id: nonEmptyText(512) });
const base64 = v.object({
  type: v.literal('base64'),
  media_type: nonEmptyText(128),
  data: v.string('must be base64'),
});
const url = v.object({
  type: v.literal('url'),
  // A model provider may fetch this URL, so only schemes of the web and of buckets are allowed.
  url: v.pipe(
    v.string('must be text'),
    v.url('must be a URL'),
    v.regex(/^(?:https?|gs|s3):/i, 'must be a URL of https, http, gs or s3'),
  ),
});

const source = component(
  'BlockSource',
  'Source of the bytes of an image or document: base64 in the event itself, a URL, or the id of a stored file.',
  v.variant('type', [base64, url, file], 'must have the type base64, url or file'),
);
const textBlock = v.object({ type: v.literal('text'), text: v.string('must be text') });
const block = component(
  'ContentBlock',
  'One block of a message or of the result of a tool.',
  v.variant(
    'type',
    [
      textBlock,
      v.object({
        type: v.literal('image'),
        source,
      }),
      v.object({
        type: v.literal('document'),
        source: v.variant(
          'type',
          [
            base64,
            url,
            file,
            v.object({
              type: v.literal('text'),
              media_type: v.optional(nonEmptyText(128)),
              data: v.string('must be text'),
            }),
          ],
          'must have the type base64, url, file or text',
        ),
        title: v.nullish(text(1024)),
        context: v.nullish(text(100_000)),
      }),
      v.object({
        type: v.literal('search_result'),
        title: text(4096),
        source: text(4096),
        content: v.array(textBlock),
      }),
    ],
    'must have the type text, image, document or search_result',
  ),
);
/** Content of a message or of a tool result. */
export const contentBlocks: v.GenericSchema<unknown, readonly WireBlock[]> = v.pipe(
  v.array(block, 'must be a list of blocks, for example [{ "type": "text", "text": "Hi" }]'),
  v.maxLength(1000, 'must be at most 1000 blocks'),
);
const nonEmptyContent = v.pipe(contentBlocks, v.minLength(1, 'must not be empty'));
const isError = v.nullish(v.boolean('must be true or false'));

const messageEvent = v.object({
  type: v.literal('user.message'),
  content: nonEmptyContent,
  /** Extension of Petrichor: the schema of the answer to this message. */
  output_schema: v.nullish(
    field(
      'A JSON Schema of an object: the final answer of this turn is JSON of this schema.',
      v.custom<JsonObject>(isJsonObject, 'must be a JSON Schema of an object'),
    ),
  ),
});
const outcomeEvent = v.object({
  type: v.literal('user.define_outcome'),
  description: nonEmptyText(100_000),
  rubric: v.nullish(
    v.object({
      type: v.literal('text', 'must be text'),
      content: nonEmptyText(100_000),
      file_id: unsupported,
    }),
  ),
  max_iterations: v.nullish(
    v.pipe(v.number('must be a number'), v.integer(), v.minValue(1), v.maxValue(20)),
  ),
});

const event = component(
  'UserEvent',
  'An event that a client sends to a session. `tool_use_id` is the id of the event that showed the call.',
  v.variant(
    'type',
    [
      messageEvent,
      outcomeEvent,
      v.object({
        type: v.literal('user.interrupt'),
        session_thread_id: v.nullish(nonEmptyText(256)),
      }),
      v.object({
        type: v.literal('user.tool_confirmation'),
        tool_use_id: nonEmptyText(256),
        result: v.picklist(['allow', 'deny'], 'must be allow or deny'),
        fingerprint: v.nullish(
          field(
            'With `allow`: the fingerprint of the pending call. The call is approved only if it has this one.',
            nonEmptyText(256),
          ),
        ),
        deny_message: v.nullish(text(100_000)),
      }),
      v.object({
        type: v.literal('user.custom_tool_result'),
        custom_tool_use_id: nonEmptyText(256),
        content: v.nullish(contentBlocks),
        is_error: isError,
      }),
      v.object({
        type: v.literal('user.tool_result'),
        tool_use_id: nonEmptyText(256),
        content: v.nullish(contentBlocks),
        is_error: isError,
      }),
    ],
    'must have a known type',
  ),
);

type Source =
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'file'; readonly file_id: string };

export type WireBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: Source }
  | {
      readonly type: 'document';
      readonly source: Source | { readonly type: 'text'; readonly data: string };
      readonly title?: string | null | undefined;
      readonly context?: string | null | undefined;
    }
  | {
      readonly type: 'search_result';
      readonly title: string;
      readonly source: string;
      readonly content: readonly { readonly text: string }[];
    };

type InitialEvent =
  | {
      readonly type: 'user.message';
      readonly content: readonly WireBlock[];
      readonly output_schema?: JsonObject | null | undefined;
    }
  | {
      readonly type: 'user.define_outcome';
      readonly description: string;
      readonly rubric?: { readonly content: string } | null | undefined;
      readonly max_iterations?: number | null | undefined;
    };

/** An event that a client sends. */
export type WireUserEvent =
  | InitialEvent
  | { readonly type: 'user.interrupt'; readonly session_thread_id?: string | null | undefined }
  | {
      readonly type: 'user.tool_confirmation';
      readonly tool_use_id: string;
      readonly result: 'allow' | 'deny';
      readonly fingerprint?: string | null | undefined;
      readonly deny_message?: string | null | undefined;
    }
  | {
      readonly type: 'user.custom_tool_result';
      readonly custom_tool_use_id: string;
      readonly content?: readonly WireBlock[] | null | undefined;
      readonly is_error?: boolean | null | undefined;
    }
  | {
      readonly type: 'user.tool_result';
      readonly tool_use_id: string;
      readonly content?: readonly WireBlock[] | null | undefined;
      readonly is_error?: boolean | null | undefined;
    };

export const sendEventsBody: v.GenericSchema<
  unknown,
  { readonly events: readonly WireUserEvent[] }
> = component(
  'SendEventsParams',
  'Events to send, all of them or none.',
  v.object({
    events: v.pipe(
      v.array(event, 'must be a list of events'),
      v.minLength(1, 'must not be empty'),
      v.maxLength(MAX_EVENTS_PER_SEND, `must be at most ${MAX_EVENTS_PER_SEND}`),
    ),
  }),
);

/** Events that a session may start with. */
export const initialEvents: v.GenericSchema<unknown, readonly InitialEvent[]> = v.pipe(
  v.array(
    v.variant(
      'type',
      [messageEvent, outcomeEvent],
      'must be a user.message or a user.define_outcome',
    ),
  ),
  v.maxLength(MAX_EVENTS_PER_SEND, `must be at most ${MAX_EVENTS_PER_SEND}`),
);

/** Converts an initial event to the runtime's format. */
export function toInitialEvent(
  wire: InitialEvent,
): Extract<UserEvent, { readonly type: InitialEvent['type'] }> {
  if (wire.type === 'user.message')
    return {
      type: wire.type,
      content: wire.content.flatMap(toContentBlocks),
      ...omitUndefined({ output_schema: wire.output_schema ?? undefined }),
    };
  const { description, rubric, max_iterations } = wire;
  return {
    type: wire.type,
    description,
    ...omitUndefined({
      rubric: rubric != null ? rubric.content : undefined,
      max_iterations: max_iterations != null ? max_iterations : undefined,
    }),
  };
}

/** Converts an event of a client to the runtime's format. */
export function toUserEvent(wire: WireUserEvent): UserEvent {
  switch (wire.type) {
    case 'user.message':
    case 'user.define_outcome':
      return toInitialEvent(wire);
    case 'user.interrupt':
      return { type: wire.type };
    case 'user.tool_confirmation': {
      const { tool_use_id, result, deny_message, fingerprint } = wire;
      return {
        type: wire.type,
        tool_use_id,
        result,
        ...omitUndefined({
          deny_message: deny_message ?? undefined,
          fingerprint: fingerprint ?? undefined,
        }),
      };
    }
    case 'user.custom_tool_result': {
      const { custom_tool_use_id, content, is_error } = wire;
      return {
        type: wire.type,
        custom_tool_use_id,
        content: (content ?? []).flatMap(toContentBlocks),
        ...omitUndefined({ is_error: is_error != null ? is_error : undefined }),
      };
    }
    case 'user.tool_result': {
      const { tool_use_id, content, is_error } = wire;
      return {
        type: wire.type,
        tool_use_id,
        content: (content ?? []).flatMap(toContentBlocks),
        ...omitUndefined({ is_error: is_error != null ? is_error : undefined }),
      };
    }
    default:
      return wire satisfies never;
  }
}

/** Converts a content block of a client to the runtime's format. */
export function toContentBlocks(block: WireBlock): readonly ContentBlock[] {
  switch (block.type) {
    case 'text':
      return [block];
    case 'search_result': {
      const { title, source, content } = block;
      const texts = content.map((part) => part.text).join('\n');
      return [{ type: 'text', text: `${title} (${source})\n${texts}` }];
    }
    case 'image':
      return [toSourceBlock(block.source, 'image/png')];
    case 'document': {
      const { source, title, context } = block;
      const heading = [title, context].filter((line) => line != null && line !== '').join('\n');
      const caption = heading === '' ? [] : [heading];
      return source.type === 'text'
        ? [{ type: 'text', text: [...caption, source.data].join('\n\n') }]
        : [
            ...caption.map((text) => ({ type: 'text', text }) as const),
            toSourceBlock(source, 'application/pdf'),
          ];
    }
    default:
      return block satisfies never;
  }
}

function toSourceBlock(source: Source, mediaType: string): ContentBlock {
  if (source.type === 'file') return { type: 'file', file_id: source.file_id };
  return { type: 'image', source: { media_type: mediaType, ...source } };
}
