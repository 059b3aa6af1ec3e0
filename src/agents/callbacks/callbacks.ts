import type { Content, Json, JsonObject, OptionNames, ToolOutcome } from '../../core/index.ts';
import type { ModelRequest, ModelResponse } from '../../models/index.ts';
import type { AgentCallbackContext } from './callback-context.ts';

/** One callback, or several. They run in order until one returns a value; the rest are skipped. */
export type CallbackList<C> = C | readonly C[];

type Returned<T> = T | undefined | Promise<T | undefined>;

/** A call of a tool, as a callback sees it. */
export interface ToolCallInfo {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonObject;
}

/** The result of a tool, as a callback sees it. */
export interface ToolResultInfo extends ToolCallInfo {
  readonly outcome: ToolOutcome;
  readonly response: JsonObject;
}

/** A model call that failed after its last attempt. */
export interface FailedModelCall {
  /** The request that was sent to the model. */
  readonly request: ModelRequest;
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

/** Runs before a model call. May replace members of the request, or return a response instead of calling the model. */
export type BeforeModel = (
  context: AgentCallbackContext,
  request: ModelRequest,
) => Returned<{ readonly request: Partial<ModelRequest> } | { readonly response: ModelResponse }>;

/** Runs after the model has answered. May replace the response. */
export type AfterModel = (
  context: AgentCallbackContext,
  response: ModelResponse,
) => Returned<{ readonly response: ModelResponse }>;

/** Runs when a model call has failed after its last attempt. May return a response in its place. */
export type OnModelError = (
  context: AgentCallbackContext,
  error: FailedModelCall,
) => Returned<{ readonly response: ModelResponse }>;

/** Runs before a call is validated, approved and run. May replace the arguments, or return a response instead of the tool. */
export type BeforeTool = (
  context: AgentCallbackContext,
  call: ToolCallInfo,
) => Returned<{ readonly args: JsonObject } | { readonly response: Json }>;

/** Runs after a tool has succeeded. May replace the response. */
export type AfterTool = (
  context: AgentCallbackContext,
  done: ToolResultInfo,
) => Returned<{ readonly response: Json }>;

/** Runs when a tool has failed. May return a response in place of the error. */
export type OnToolError = (
  context: AgentCallbackContext,
  failed: ToolResultInfo,
) => Returned<{ readonly response: Json }>;

/** Runs before an agent begins. May return content instead of running the agent. */
export type BeforeAgent = (context: AgentCallbackContext) => Returned<Content>;

/** Runs when an agent is done. May return content, which is added as another message of the agent. */
export type AfterAgent = (context: AgentCallbackContext) => Returned<Content>;

/**
 * Functions that run before and after an agent, its model calls and its tool calls. Each kind that is set becomes a
 * transition of the agent's net: its result is committed before it takes effect, and it does not run again after a crash
 * once committed. A callback that throws fails the tool call or the turn it ran for. All callbacks of one kind at one
 * point share a timeout of 60 seconds.
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

/** The names of the callbacks, for `checkOptions`. */
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

/** The callbacks of a list, in order; empty if there is no list. */
export function callbacksIn<C>(list: CallbackList<C> | undefined): readonly C[] {
  if (list === undefined) return [];
  return isList(list) ? list : [list];
}

// Array.isArray alone does not narrow a readonly array out of a union.
function isList<C>(list: CallbackList<C>): list is readonly C[] {
  return Array.isArray(list);
}

/** Runs the callbacks in order and returns the first result that is not undefined. The remaining callbacks do not run. */
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
