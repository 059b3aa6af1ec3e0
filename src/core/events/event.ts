import { isOpaquePart, type Content } from '../content/content.ts';
import type { EventActions } from './event-actions.ts';
import type { FinishReason } from './finish-reason.ts';
import { getFunctionCalls, getFunctionResponses } from '../content/function-calls.ts';
import type { CallId, InvocationId } from '../identity/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { Usage } from './usage.ts';

/** One thing that was said or done in a session, shaped as in ADK. */
export type Event = {
  /** A UUID. */
  readonly id: string;
  /** Epoch seconds with a fraction. */
  readonly timestamp: number;
  readonly invocationId: InvocationId;
  /** `user`, `system`, or the name of an agent. */
  readonly author: string;
  /** The agents down to the author, joined by dots: `triage.billing`. */
  readonly branch?: string;
  readonly content?: Content;
  readonly actions: EventActions;
  /** True for a piece of an answer still being written. Such an event is never stored. */
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  /** On the last event of an invocation that a limit ended: a loop, the re-ask budget, or the model calls it may make. */
  readonly stopReason?: 'budget_reached';
  readonly interrupted?: boolean;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  /** On events of models only. */
  readonly finishReason?: FinishReason;
  /** On events of models only. */
  readonly usage?: Usage;
  /** Calls of this event that are answered later than their turn. */
  readonly longRunningToolIds?: readonly CallId[];
  /** What a workflow node gives to the next. */
  readonly output?: Json;
  readonly nodeInfo?: NodeInfo;
  readonly providerMetadata?: ProviderMetadata;
  readonly customMetadata?: JsonObject;
};

/** A provider's own facts about an answer, kept beside it and never acted on. */
export type ProviderMetadata = { readonly [key: string]: string };

/** Where in a workflow an event was made. */
export type NodeInfo = {
  /** For example `billing-flow/classify@1/refund@1`. */
  readonly path: string;
  readonly runId?: string;
  readonly name?: string;
};

/** ADK's other name for the content of an event. */
export function eventMessage(event: Event): Content | undefined {
  return event.content;
}

/**
 * True when the author is done: a result not to be summarised, a call to be answered later, or an answer that is whole,
 * neither asks for a tool nor answers one, and does not end in the output of code the model still has to read.
 */
export function isFinalResponse(event: Event): boolean {
  if (event.actions.skipSummarization === true) return true;
  if ((event.longRunningToolIds ?? []).length > 0) return true;
  return (
    event.partial !== true &&
    getFunctionCalls(event).length === 0 &&
    getFunctionResponses(event).length === 0 &&
    !endsInCodeResult(event.content)
  );
}

function endsInCodeResult(content: Content | undefined): boolean {
  const last = content?.parts.at(-1);
  if (last === undefined || !isOpaquePart(last)) return false;
  return isJsonObject(last.opaque) && 'codeExecutionResult' in last.opaque;
}
