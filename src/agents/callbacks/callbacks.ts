import type { Content, Json, JsonObject, OptionNames, ToolOutcome } from '../../core/index.ts';
import type { ModelRequest, ModelResponse } from '../../models/index.ts';
import type { AgentCallbackContext } from './callback-context.ts';

/** One callback, or several: the first that returns something has the last word. */
export type CallbackList<C> = C | readonly C[];

type Returned<T> = T | undefined | Promise<T | undefined>;

/** A call of a tool, as a callback sees it. */
export interface ToolCallInfo {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** What a tool gave, as a callback sees it. */
export interface ToolResultInfo extends ToolCallInfo {
  readonly outcome: ToolOutcome;
  readonly response: JsonObject;
}

/** A model call that failed for good. */
export interface FailedModelCall {
  /** What the model was asked. */
  readonly request: ModelRequest;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** Before the model is asked: changes the request, or answers in the model's place. */
export type BeforeModel = (
  context: AgentCallbackContext,
  request: ModelRequest,
) => Returned<{ readonly request: Partial<ModelRequest> } | { readonly response: ModelResponse }>;

/** After the model has answered: answers otherwise. */
export type AfterModel = (
  context: AgentCallbackContext,
  response: ModelResponse,
) => Returned<{ readonly response: ModelResponse }>;

/** When the model failed, all attempts used: answers in its place. */
export type OnModelError = (
  context: AgentCallbackContext,
  error: FailedModelCall,
) => Returned<{ readonly response: ModelResponse }>;

/** Before a call is judged, approved and run: changes its arguments, or answers in the tool's place. */
export type BeforeTool = (
  context: AgentCallbackContext,
  call: ToolCallInfo,
) => Returned<{ readonly args: JsonObject } | { readonly response: Json }>;

/** After a tool has run well: another response. */
export type AfterTool = (
  context: AgentCallbackContext,
  done: ToolResultInfo,
) => Returned<{ readonly response: Json }>;

/** When a tool failed: a response in place of its error. */
export type OnToolError = (
  context: AgentCallbackContext,
  failed: ToolResultInfo,
) => Returned<{ readonly response: Json }>;

/** Before an agent begins: answers in its place. */
export type BeforeAgent = (context: AgentCallbackContext) => Returned<Content>;

/** When an agent is done: more to say. */
export type AfterAgent = (context: AgentCallbackContext) => Returned<Content>;

/**
 * Functions asked before and after what an agent does. Each that is there is a transition of the agent's net: what it
 * said is committed before anything acts on it, and is not asked again after a crash. One that throws is a failure of
 * what it was asked about: of the call, or of the turn.
 */
export interface Callbacks {
  readonly beforeModel?: CallbackList<BeforeModel>;
  readonly afterModel?: CallbackList<AfterModel>;
  readonly onModelError?: CallbackList<OnModelError>;
  readonly beforeTool?: CallbackList<BeforeTool>;
  readonly afterTool?: CallbackList<AfterTool>;
  readonly onToolError?: CallbackList<OnToolError>;
  readonly beforeAgent?: CallbackList<BeforeAgent>;
  readonly afterAgent?: CallbackList<AfterAgent>;
}

export const CALLBACK_NAMES: OptionNames<Callbacks> = {
  beforeModel: true,
  afterModel: true,
  onModelError: true,
  beforeTool: true,
  afterTool: true,
  onToolError: true,
  beforeAgent: true,
  afterAgent: true,
};

/** The callbacks of a list, in their order; none when there is no list. */
export function callbacksIn<C>(list: CallbackList<C> | undefined): readonly C[] {
  if (list === undefined) return [];
  return isList(list) ? list : [list];
}

// Array.isArray alone does not narrow a readonly array out of a union.
function isList<C>(list: CallbackList<C>): list is readonly C[] {
  return Array.isArray(list);
}

/** What the first callback says that says something; the others are not asked. */
export async function firstResult<A extends readonly unknown[], R>(
  callbacks: readonly ((...args: A) => R | undefined | Promise<R | undefined>)[],
  ...args: A
): Promise<R | undefined> {
  for (const callback of callbacks) {
    const result = await callback(...args);
    if (result !== undefined) return result;
  }
  return undefined;
}
