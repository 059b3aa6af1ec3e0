import * as v from 'valibot';
import type { Json, JsonObject, Route, StopReason, Usage } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { modelCallSchema } from './model-call.ts';
import type { ModelCall } from './model-call.ts';
import { json, object } from './place-schemas.ts';

/** The permit to run a turn. There is exactly one: in this place, or held by the turn that runs. */
export const turnPermit: TokenPlace<null> = place('turn.permit', { owed: true });

/** The turn that runs. At most one does, because it holds the permit. */
export interface CurrentTurn {
  readonly invocationId: string;
  /** The number of model answers so far. */
  readonly round: number;
  readonly usage: Usage;
  /** The run config of a turn that no message started. A message has its own. */
  readonly runConfig?: JsonObject | undefined;
}

/** The turn that runs, if there is one. `turn.permit` is empty meanwhile. */
export const turnCurrent: TokenPlace<CurrentTurn> = place(
  'turn.current',
  v.object({
    invocationId: v.string(),
    round: v.number(),
    usage: object<Usage>(),
    runConfig: v.optional(json<JsonObject>()),
  }),
  { owed: true, version: 1 },
);

/** One token for each time that this turn may still call the model again. */
export const turnBudget: TokenPlace<null> = place('turn.budget');

/** Holds a token while the turn waits for an answer from outside. */
export const turnWaiting: TokenPlace<null> = place('turn.waiting');

/** The end of a turn, or of one agent's part of it, with its reason. */
export interface Ending {
  readonly stopReason: StopReason;
  readonly invocationId?: string | undefined;
  /** True when the agent asked to leave the enclosing loop. */
  readonly escalate?: boolean | undefined;
  /** The number of model answers so far. Later calls are numbered from here, so that their ids stay unique. */
  readonly round?: number | undefined;
  /** The output for the next node or agent: of a workflow, or of an agent that is a node of one. */
  readonly output?: Json | undefined;
  /** Selects the edges to follow when the agent is a node of a workflow. */
  readonly route?: Route | undefined;
  /** The model call whose attempts have all failed. */
  readonly failedRequest?: ModelCall | undefined;
  /** The agent that made that call, in a session of several. */
  readonly failedAgent?: string | undefined;
  /** The work of the turn that failed, in a session of several agents. */
  readonly failedTurn?: FailedTurn | undefined;
}

/** The work of a turn of several agents when a model call failed. A resume continues it. */
export interface FailedTurn {
  /** The number of model answers so far. */
  readonly round: number;
  /** The tokens with which the agents continue, by the names of their places. Missing: the turn cannot be continued. */
  readonly tokens?: Readonly<Record<string, readonly Json[]>> | undefined;
}

/** Schema of a `FailedTurn`. */
export const failedTurnSchema: v.GenericSchema<unknown, FailedTurn> = v.object({
  round: v.number(),
  tokens: v.optional(v.record(v.string(), v.pipe(v.array(json<Json>()), v.readonly()))),
});

/** Schema of an `Ending`. */
export const endingSchema: v.GenericSchema<unknown, Ending> = v.object({
  stopReason: v.custom<StopReason>(() => true),
  invocationId: v.optional(v.string()),
  escalate: v.optional(v.boolean()),
  round: v.optional(v.number()),
  output: v.optional(json<Json>()),
  route: v.optional(v.custom<Route>((value) => value !== undefined)),
  failedRequest: v.optional(modelCallSchema),
  failedAgent: v.optional(v.string()),
  failedTurn: v.optional(failedTurnSchema),
});

/** The end of the turn, until `turn.end` has logged it and returned the permit. */
export const turnEnding: TokenPlace<Ending> = place('turn.ending', endingSchema, {
  owed: true,
});
