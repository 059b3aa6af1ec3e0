import * as v from 'valibot';
import type { Event, JsonObject } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { ConversationItem } from './conversation.ts';
import { object } from './place-schemas.ts';

/** An event or state that a program adds to a session outside of any turn. */
export interface AppendedEvent {
  /** Stored in the log unchanged. Absent for the initial state of a session. */
  readonly event?: Event | undefined;
  readonly stateDelta: JsonObject;
  /** Models are not shown its content. Default: they are. */
  readonly isHidden?: true | undefined;
}

/** Input place for appended events. */
export const eventIn: TokenPlace<AppendedEvent> = place(
  'event.in',
  v.object({
    event: v.optional(object<Event>()),
    stateDelta: object<JsonObject>(),
    isHidden: v.optional(v.literal(true)),
  }),
  { environment: true, owed: true, version: 1 },
);

/** Content of appended events, held until no turn runs: within a turn it could separate a call from its result. */
export const pendingContent: TokenPlace<ConversationItem> = place(
  'event.pending-content',
  object<ConversationItem>(),
  { owed: true, version: 1, formerNames: ['event.said'] },
);
