import * as v from 'valibot';
import type { JsonObject, StateWrites } from '../../core/index.ts';
import { mapPlace, place } from '../../net/index.ts';
import type { MapPlace, TokenPlace } from '../../net/index.ts';
import { json, object } from './place-schemas.ts';

/** Session, user, app and temp state, by key. Effects never write it directly: they give a `SessionWrite`. */
export const state: MapPlace = mapPlace('state', { version: 1 });

/** State changes that `state.persist` applies, or refuses when they conflict. */
export interface SessionWrite {
  readonly writes: StateWrites;
  /**
   * The values that the writer read of keys it then set or deleted; null for a missing key. The write conflicts if one
   * of them has another value when it is applied.
   */
  readonly seen?: JsonObject | undefined;
  /** The invocation that wrote; missing outside of an invocation. */
  readonly invocationId?: string | undefined;
  /** The author shown in the log: an agent, or `user` for state that came with a message. */
  readonly author?: string | undefined;
  readonly branch?: string | undefined;
}

type OptionalText = v.OptionalSchema<v.StringSchema<undefined>, undefined>;

/** Schemas of the members of `SessionWrite`, for places whose tokens extend it. */
export const sessionWriteFields: {
  readonly writes: v.GenericSchema<unknown, StateWrites>;
  readonly seen: v.OptionalSchema<v.GenericSchema<unknown, JsonObject>, undefined>;
  readonly invocationId: OptionalText;
  readonly author: OptionalText;
  readonly branch: OptionalText;
} = {
  writes: object<StateWrites>(),
  seen: v.optional(json<JsonObject>()),
  invocationId: v.optional(v.string()),
  author: v.optional(v.string()),
  branch: v.optional(v.string()),
};

/** State changes that are not applied yet. */
export const sessionWrite: TokenPlace<SessionWrite> = place(
  'state.write',
  v.object(sessionWriteFields),
  { owed: true, version: 1 },
);
