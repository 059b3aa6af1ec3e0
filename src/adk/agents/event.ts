import { omitUndefined } from '../../core/internal.ts';
import { type RequestedActions, NodeEvent } from '../../agents/index.ts';
import { contentText, InvalidInputError } from '../../core/index.ts';
import type {
  Content,
  Event as CoreEvent,
  Json,
  Part,
  Route,
  StateDelta,
} from '../../core/index.ts';

/** One entry of a session's log, in ADK's form. */
export type Event = CoreEvent;

/** An event that a node or custom agent yields. All members are optional. `content` takes precedence over `message`. */
export interface EventShorthand {
  /** Shown to the user: text, parts, or content. */
  readonly message?: string | readonly Part[] | Content;
  /** Shown to the user. */
  readonly content?: Content;
  /** Output for the next nodes. At most one per run. */
  readonly output?: Json;
  /** Selects which edges with routes are taken. */
  readonly route?: Route;
  /** State changes, committed with the event. */
  readonly state?: StateDelta;
  /** All other actions. An action that is not supported where the event is yielded is rejected by name. */
  readonly actions?: RequestedActions;
}

/**
 * Creates an event for a node or custom agent to yield: `yield Event({ state, route })`.
 * @throws InvalidInputError if a member is unknown
 */
export function Event(event: EventShorthand): NodeEvent {
  const { message, content, output, route, state, actions, ...unknown } = event;
  for (const name of Object.keys(unknown))
    throw new InvalidInputError(
      `event.${name}`,
      'is unknown. An event has message, content, output, route, state and actions.',
    );
  const eventContent = content ?? (message === undefined ? undefined : toContent(message));
  return new NodeEvent(omitUndefined({ content: eventContent, output, route, state, actions }));
}

function toContent(message: string | readonly Part[] | Content): Content {
  if (typeof message === 'string') return { role: 'model', parts: [{ text: message }] };
  return 'parts' in message ? message : { role: 'model', parts: [...message] };
}

/** ADK's `stringifyContent`: the text of an event, without thoughts. */
export function stringifyContent({ content }: Pick<Event, 'content'>): string {
  return contentText(content);
}
