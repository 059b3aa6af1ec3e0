import { NodeEvent } from '../agents/node-event.ts';
import type { Content, Event as CoreEvent, Json, Part, Route, StateDelta } from '../core/index.ts';

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
}

/** What a node or an agent of your own yields when it is more than words: `yield Event({ state, route })`. */
export function Event({ message, content, output, route, state }: EventShorthand): NodeEvent {
  const said = content ?? (message === undefined ? undefined : contentOf(message));
  return new NodeEvent({
    ...(said !== undefined && { content: said }),
    ...(output !== undefined && { output }),
    ...(route !== undefined && { route }),
    ...(state !== undefined && { state }),
  });
}

function contentOf(message: string | readonly Part[] | Content): Content {
  if (typeof message === 'string') return { role: 'model', parts: [{ text: message }] };
  return 'parts' in message ? message : { role: 'model', parts: [...message] };
}
