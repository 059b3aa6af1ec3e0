import { checkAppendedEvent, eventIn } from '../../agents/internal.ts';
import {
  checkOptions,
  createEventActions,
  deriveInvocationId,
  InvalidInputError,
  newMessageId,
  optionTable,
  parseContent,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Content, Event, JsonObject, OptionTable, StateDelta } from '../../core/index.ts';
import { checkDefinition, describeValue, omitUndefined } from '../../core/internal.ts';
import { copyObject } from './message-metadata.ts';

/** An event that happened outside of any turn. It has content or state changes, or both. */
export interface EventToAppend {
  /** `user`, or the name of what it is from. The models of other agents are told this name. */
  readonly author: string;
  /** Text, or content. Models see it from the next turn on. Text has the role `user` if the author is, else `model`. */
  readonly content?: string | Content;
  /** State changes. Keys with the prefix `temp:` are not stored. */
  readonly stateDelta?: StateDelta;
  /** Stored in the log with the event. No model sees it. Default: none. */
  readonly customMetadata?: JsonObject;
}

/** The options of `session.append`. */
export interface AppendOptions {
  /** Idempotency key: an event with the key of an earlier one is not appended again. Default: random. */
  readonly dedupeKey?: string;
}

/** An event that a session has accepted. */
export interface AppendReceipt {
  /** The id of the event in the log. */
  readonly eventId: string;
  /** True if an event with this `dedupeKey` was accepted before; this one was dropped. */
  readonly duplicate: boolean;
}

/** The event of `session.append`. */
export const EVENT_TO_APPEND: OptionTable = optionTable<EventToAppend>(
  'append',
  { author: true, content: true, stateDelta: true, customMetadata: true },
  { message: 'content', text: 'content', metadata: 'customMetadata', state: 'stateDelta' },
);

/** The options of `session.append`. */
export const APPEND_OPTIONS: OptionTable = optionTable<AppendOptions>(
  'append',
  { dedupeKey: true },
  { messageId: 'dedupeKey', id: 'dedupeKey' },
);

/** An input for a session's inbox. */
export interface AppendInput {
  readonly place: typeof eventIn;
  readonly value: { readonly event: Event; readonly stateDelta: StateDelta };
  readonly dedupeKey: string;
}

/**
 * Creates the input that appends an event to a session.
 * @param now epoch milliseconds
 * @throws InvalidInputError, UnknownFieldError, InvalidStateKeyError, NotSerializableError
 */
export function toAppendInput(
  event: EventToAppend,
  options: AppendOptions,
  now: number,
): AppendInput {
  checkDefinition(EVENT_TO_APPEND, event);
  checkOptions(APPEND_OPTIONS, options);
  const { dedupeKey = newMessageId() } = options;
  const { author, content, stateDelta, customMetadata } = event;
  if (typeof author !== 'string' || author === '')
    throw new InvalidInputError(
      'author',
      `must be "user" or the name of what the event is from; it is ${describeValue(author)}.`,
    );
  if (content === undefined && stateDelta === undefined)
    throw new InvalidInputError('content', 'is missing: an event needs content or a stateDelta.');
  const checked = checkAppendedEvent({
    // The same for each attempt to append the event.
    id: deriveInvocationId(`append:${dedupeKey}`).slice('e-'.length),
    invocationId: deriveInvocationId(`append:${dedupeKey}`),
    timestamp: toAdkSeconds(now),
    author,
    actions: createEventActions({ stateDelta: stateDelta ?? {} }),
    ...omitUndefined({
      content: content === undefined ? undefined : toContent(author, content),
      customMetadata: copyObject(customMetadata, 'customMetadata'),
    }),
  });
  const { actions } = checked.event;
  return {
    place: eventIn,
    value: { event: checked.event, stateDelta: actions.stateDelta },
    dedupeKey: `signal:${eventIn.name}:${dedupeKey}`,
  };
}

function toContent(author: string, content: string | Content): Content {
  if (typeof content !== 'string') return parseContent(content);
  return { role: author === 'user' ? 'user' : 'model', parts: [{ text: content }] };
}
