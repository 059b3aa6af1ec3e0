import { isOpaquePart, type Content } from '../content/content.ts';
import type { EventActions } from './event-actions.ts';
import { getFunctionCalls, getFunctionResponses } from '../content/function-calls.ts';
import type { CallId, InvocationId } from '../identity/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/** One event of a session: a message or an action. The shape is that of ADK. */
export type Event = {
  /** A UUID. */
  readonly id: string;
  /** Epoch seconds with a fraction. */
  readonly timestamp: number;
  readonly invocationId: InvocationId;
  /** `user`, `system`, or the name of an agent. */
  readonly author: string;
  /** The names of the agents from the outermost to the author, joined by dots, for example `triage.billing`. */
  readonly branch?: string;
  readonly content?: Content;
  readonly actions: EventActions;
  /** True for a piece of a response that is still streaming. Such an event is never stored. */
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  /** What the user said, in a live session. Such an event has no content. */
  readonly inputTranscription?: Transcription;
  /** What the model said, in a live session: the transcript of its audio. */
  readonly outputTranscription?: Transcription;
  /** A handle with which the server of a live model resumes the conversation. Such an event is never stored. */
  readonly liveSessionResumptionUpdate?: {
    readonly newHandle: string;
    readonly resumable: boolean;
  };
  /** The server of a live model will close the connection soon. Such an event is never stored. */
  readonly goAway?: { readonly timeLeftMs?: number };
  /** On the last event of an invocation that a limit ended: of loop iterations, re-asks or model calls. */
  readonly stopReason?: 'budget_reached';
  readonly interrupted?: boolean;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  /** On events of models only. */
  readonly finishReason?: AdkFinishReason;
  /** On events of models only. */
  readonly usageMetadata?: UsageMetadata;
  /** The sources on which a model based its response, in Gemini's form: web searches, pages and the parts of the text. */
  readonly groundingMetadata?: JsonObject;
  /** The sources that a model cites, for models of other providers: `{ citations: [{ uri, title }] }`. */
  readonly citationMetadata?: JsonObject;
  /** The calls of this event that get their results later, from outside. */
  readonly longRunningToolIds?: readonly CallId[];
  /** The output of a workflow node, which is the input of the next nodes. */
  readonly output?: Json;
  readonly nodeInfo?: NodeInfo;
  readonly providerMetadata?: ProviderMetadata;
  readonly customMetadata?: JsonObject;
};

/** The transcript of speech, or a piece of it while it is made. */
export type Transcription = {
  readonly text: string;
  /** False for a piece: the whole text follows. */
  readonly finished: boolean;
};

/**
 * Why a model stopped generating. A response with tool calls always has `tool_calls`, whatever the provider reports.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'max_tokens' | 'refusal' | 'other';

/** ADK's name of the reason why a model stopped. A response with tool calls has `STOP`. */
export type AdkFinishReason = 'STOP' | 'MAX_TOKENS' | 'SAFETY' | 'OTHER';

/** The token usage of a model call, as ADK counts it. */
export type UsageMetadata = {
  /** All input tokens, including cached ones. */
  readonly promptTokenCount: number;
  /** Output tokens without thinking. */
  readonly candidatesTokenCount: number;
  readonly totalTokenCount: number;
  readonly thoughtsTokenCount?: number;
  readonly cachedContentTokenCount?: number;
};

/** Provider-specific facts about a response. They are stored with it and do not affect behavior. */
export type ProviderMetadata = { readonly [key: string]: string };

/** The position in a workflow where an event was produced. */
export type NodeInfo = {
  /** For example `billing-flow/classify@1/refund@1`. */
  readonly path: string;
  readonly runId?: string;
  readonly name?: string;
};

/** Returns the content of an event, which ADK also calls its message. */
export function eventMessage(event: Event): Content | undefined {
  return event.content;
}

/**
 * True for the final response of an agent. That is an event with `skipSummarization`, an event with long-running calls or
 * a request for credentials, or a complete message without tool calls and tool results that does not end with the output of executed code, which the
 * model still has to read.
 */
export function isFinalResponse(event: Event): boolean {
  if (event.actions.skipSummarization === true) return true;
  if ((event.longRunningToolIds ?? []).length > 0) return true;
  if (Object.keys(event.actions.requestedAuthConfigs).length > 0) return true;
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
