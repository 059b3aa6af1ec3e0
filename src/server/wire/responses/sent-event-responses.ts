import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { eventContentBlock } from './content-responses.ts';
import { count } from './response-parts.ts';

type Text = v.GenericSchema<unknown, string>;
type Blocks = v.ArraySchema<typeof eventContentBlock, undefined>;

/** Cursor of an event. */
export const eventId: Text = field(
  'Cursor: pass it as `after_id` to continue after this event.',
  v.string(),
);

/** Id of the event that showed a call. */
export const callEventId: Text = field('Id of the event that showed the call.', v.string());

const content: Blocks = v.array(eventContentBlock);

/** Fields of a message. */
export const message: { readonly content: Blocks } = { content };

/** Fields of the result of a call. */
export const result: { readonly content: Blocks; readonly is_error: v.BooleanSchema<undefined> } = {
  content,
  is_error: v.boolean(),
};

/** Fields of an outcome to reach. */
export const outcome: {
  readonly outcome_id: Text;
  readonly description: Text;
  readonly rubric: v.GenericSchema<unknown, { readonly type: 'text'; readonly content: string }>;
  readonly max_iterations: v.GenericSchema<unknown, number>;
} = {
  outcome_id: v.string(),
  description: v.string(),
  rubric: v.object({ type: v.literal('text'), content: v.string() }),
  max_iterations: count,
};

/** Fields of a confirmation. */
export const confirmation: {
  readonly tool_use_id: Text;
  readonly result: v.GenericSchema<unknown, 'allow' | 'deny'>;
  readonly deny_message: v.ExactOptionalSchema<v.StringSchema<undefined>, undefined>;
} = {
  tool_use_id: callEventId,
  result: v.picklist(['allow', 'deny']),
  deny_message: v.exactOptional(v.string()),
};

/** An event that the server accepted, as the response to its sender. */
const acceptedEvent: WireSchema<'AcceptedEvent'> = component(
  'AcceptedEvent',
  'An event that the server accepted and stored. It gets its `seq` when it is processed.',
  v.variant('type', [
    accepted('user.message', message),
    accepted('user.define_outcome', outcome),
    accepted('user.interrupt', {}),
    accepted('user.tool_confirmation', confirmation),
    accepted('user.tool_result', { tool_use_id: callEventId, ...result }),
    accepted('user.custom_tool_result', { custom_tool_use_id: callEventId, ...result }),
  ]),
);

/** The response to a request that sends events. */
export const acceptedEvents: WireSchema<'AcceptedEvents'> = component(
  'AcceptedEvents',
  'The accepted events, in the order of the request.',
  v.object({ data: v.array(acceptedEvent) }),
);

/** Fields of a schema, by name. */
export type Entries = Readonly<Record<string, v.GenericSchema<unknown, unknown>>>;

function accepted<Type extends string, E extends Entries>(
  type: Type,
  fields: E,
): v.ObjectSchema<
  {
    readonly id: Text;
    readonly type: v.LiteralSchema<Type, undefined>;
    readonly processed_at: v.NullSchema<undefined>;
  } & E,
  undefined
> {
  return v.object({ id: eventId, type: v.literal(type), ...fields, processed_at: v.null() });
}
