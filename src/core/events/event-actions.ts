import type { Content } from '../content/content.ts';
import type { CallId, InvocationId } from '../identity/ids.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { StateDelta } from '../state/state-delta.ts';

/** The actions of an event in addition to its content. The shape is that of ADK. */
export type EventActions = {
  /** Set by tools, callbacks and agents. Applied to the state when the event is committed. */
  readonly stateDelta: StateDelta;
  /** Set when an artifact is saved: file names with their new versions. Read by artifact listings and by rewind. */
  readonly artifactDelta: { readonly [fileName: string]: number };
  /** Set by a tool whose result is the final response. Read by the router, which then does not call the model again. */
  readonly skipSummarization?: boolean;
  /** Set by the transfer tool or a callback: the agent that continues. Read by the router, before everything else. */
  readonly transferToAgent?: string;
  /** Set by a tool or an agent to leave the loop that contains it. Read by loop agents. */
  readonly escalate?: boolean;
  /** Set when an agent has ended. Read by resumption, which does not start it again. */
  readonly endOfAgent?: boolean;
  /** Set by a workflow node. Read by its outgoing edges. */
  readonly route?: Route;
  /** Set by tools. Read by user interfaces only. */
  readonly renderUiWidgets?: readonly UiWidget[];
  /** Set by rewind: events from this invocation on are ignored. Read by everything that reads the history. */
  readonly rewindBeforeInvocationId?: InvocationId;
  /** Set by tools that need credentials: the credentials by pending call. Read by the client that can get them. */
  readonly requestedAuthConfigs: { readonly [callId: CallId]: AuthConfig };
  /** Set when calls wait for confirmation. Read by the client that asks the user. */
  readonly requestedToolConfirmations: { readonly [callId: CallId]: ToolConfirmation };
  /** Set by compaction: the summary that replaces a range of events. Read by the prompt builder. */
  readonly compaction?: EventCompaction;
};

/** One value that selects outgoing edges of a workflow node. Values are compared as text: `1` selects the edge `'1'`. */
export type RouteValue = string | number | boolean;
/** The route of a workflow node. Every edge that has one of the values is taken. ADK's `actions.route`. */
export type Route = RouteValue | readonly RouteValue[];

/** A widget for a user interface. */
export type UiWidget = {
  readonly id: string;
  readonly provider: string;
  readonly payload: JsonObject;
};

/** The credentials that a call waits for. */
export type AuthConfig = {
  readonly authScheme: JsonObject;
  readonly rawAuthCredential?: JsonObject;
  readonly exchangedAuthCredential?: JsonObject;
  readonly credentialKey?: string;
};

/** A call that waits for confirmation, and later the answer. */
export type ToolConfirmation = {
  readonly toolName?: string;
  readonly args?: JsonObject;
  /** A fingerprint of the name and arguments. It binds the answer to exactly these arguments. */
  readonly fingerprint?: string;
  readonly hint?: string;
  readonly confirmed?: boolean;
  readonly payload?: Json;
};

/** The summary of a range of events. Times are epoch seconds, as in ADK. */
export type EventCompaction = {
  readonly startTimestamp: number;
  readonly endTimestamp: number;
  readonly compactedContent: Content;
};

/** Returns complete actions. Missing required members are empty objects. */
export function createEventActions(some: Partial<EventActions> = {}): EventActions {
  return {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
    ...some,
  };
}

/** Merges the actions of several results. State, artifacts and requests are joined; of other members the last counts. */
export function mergeEventActions(all: readonly Partial<EventActions>[]): EventActions {
  const merged = createEventActions();
  return all.reduce<EventActions>(
    (before, actions) => ({
      ...before,
      ...actions,
      stateDelta: { ...before.stateDelta, ...actions.stateDelta },
      artifactDelta: { ...before.artifactDelta, ...actions.artifactDelta },
      requestedAuthConfigs: { ...before.requestedAuthConfigs, ...actions.requestedAuthConfigs },
      requestedToolConfirmations: {
        ...before.requestedToolConfirmations,
        ...actions.requestedToolConfirmations,
      },
    }),
    merged,
  );
}
