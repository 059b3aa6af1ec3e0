import { NodeEvent } from '../../agents/workflow/node-event.ts';
import type { RequestedActions } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import type {
  Content,
  Event as CoreEvent,
  Json,
  Part,
  Route,
  StateDelta,
} from '../../core/index.ts';

/** One thing that was said or done in a session. */
export type Event = CoreEvent;

/** What an event of your own says, all of it optional. `content` goes before `message` when both are given. */
export interface EventShorthand {
  /** For the user: words, parts, or content. */
  readonly message?: string | readonly Part[] | Content;
  /** The same. */
  readonly content?: Content;
  /** For the nodes after it, one in all its run. */
  readonly output?: Json;
  /** Which of the edges with routes are taken. */
  readonly route?: Route;
  /** Written to state with it. */
  readonly state?: StateDelta;
  /** Every other action. What cannot be honored where the event is yielded is refused by name. */
  readonly actions?: RequestedActions;
}

/**
 * What a node or an agent of your own yields when it is more than words: `yield Event({ state, route })`.
 * @throws InvalidInputError for a member that is unknown
 */
export function Event(event: EventShorthand): NodeEvent {
  const { message, content, output, route, state, actions, ...unknown } = event;
  for (const name of Object.keys(unknown))
    throw new InvalidInputError(
      `event.${name}`,
      'is unknown. An event has message, content, output, route, state and actions.',
    );
  const eventContent = content ?? (message === undefined ? undefined : toContent(message));
  return new NodeEvent({
    ...(eventContent !== undefined && { content: eventContent }),
    ...(output !== undefined && { output }),
    ...(route !== undefined && { route }),
    ...(state !== undefined && { state }),
    ...(actions !== undefined && { actions }),
  });
}

function toContent(message: string | readonly Part[] | Content): Content {
  if (typeof message === 'string') return { role: 'model', parts: [{ text: message }] };
  return 'parts' in message ? message : { role: 'model', parts: [...message] };
}
