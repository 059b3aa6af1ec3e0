import type { Content } from '../content/content.ts';
import type { CallId, InvocationId } from '../identity/ids.ts';
import type { Json, JsonObject } from '../json/json.ts';
import type { StateDelta } from '../state/state-delta.ts';

/** What an event does beside what it says. Shaped as in ADK. */
export type EventActions = {
  /** Set by tools, callbacks and agents; applied to state when the event is committed. */
  readonly stateDelta: StateDelta;
  /** Set by saving an artifact: file name to its new version. Read by artifact listings and by rewind. */
  readonly artifactDelta: { readonly [fileName: string]: number };
  /** Set by a tool: its result is the answer. Read by the router, which then does not ask the model again. */
  readonly skipSummarization?: boolean;
  /** Set by the transfer tool or a callback: the agent that goes on. Read by the router, before everything else. */
  readonly transferToAgent?: string;
  /** Set by a tool or an agent: leave the loop around it. Read by loop agents. */
  readonly escalate?: boolean;
  /** Set when an agent has run to its end. Read by resumption, which does not start it again. */
  readonly endOfAgent?: boolean;
  /** Set by a workflow node. Read by the edges out of it. */
  readonly route?: Route;
  /** Set by tools. Read by user interfaces only. */
  readonly renderUiWidgets?: readonly UiWidget[];
  /** Set by rewind: events from this invocation on no longer count. Read wherever history is read. */
  readonly rewindBeforeInvocationId?: InvocationId;
  /** Set by tools that lack credentials: which call waits for which. Read by the client that can get them. */
  readonly requestedAuthConfigs: { readonly [callId: CallId]: AuthConfig };
  /** Set when calls wait for a person's yes or no. Read by the client that asks the person. */
  readonly requestedToolConfirmations: { readonly [callId: CallId]: ToolConfirmation };
  /** Set by compaction: the summary that stands for a stretch of events. Read by the prompt builder. */
  readonly compaction?: EventCompaction;
};

/** One route by which a workflow node's edges are chosen. Values are compared as text: `1` takes the edge of `'1'`. */
export type RouteValue = string | number | boolean;
/**
 * What a node gives to say where its workflow goes on; with several, every edge that has one of them is taken. ADK's
 * `actions.route`.
 */
export type Route = RouteValue | readonly RouteValue[];

/** Something a user interface can draw. */
export type UiWidget = {
  readonly id: string;
  readonly provider: string;
  readonly payload: JsonObject;
};

/** Credentials a call waits for. */
export type AuthConfig = {
  readonly authScheme: JsonObject;
  readonly rawAuthCredential?: JsonObject;
  readonly exchangedAuthCredential?: JsonObject;
  readonly credentialKey?: string;
};

/** One call that waits for confirmation, and later the answer to it. */
export type ToolConfirmation = {
  readonly toolName?: string;
  readonly args?: JsonObject;
  /** Binds the answer to these very arguments. */
  readonly fingerprint?: string;
  readonly hint?: string;
  readonly confirmed?: boolean;
  readonly payload?: Json;
};

/** Times are epoch seconds, as in ADK. */
export type EventCompaction = {
  readonly startTimestamp: number;
  readonly endTimestamp: number;
  readonly compactedContent: Content;
};

/** Completes actions: what is missing is empty. */
export function createEventActions(some: Partial<EventActions> = {}): EventActions {
  return {
    stateDelta: {},
    artifactDelta: {},
    requestedAuthConfigs: {},
    requestedToolConfirmations: {},
    ...some,
  };
}
