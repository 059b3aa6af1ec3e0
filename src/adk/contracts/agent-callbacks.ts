import type { Content, Json, JsonObject } from '../../core/index.ts';
import type { GenerationConfig, ModelResponse, ToolDeclaration } from '../../models/index.ts';
import type { CallbackContext, ToolCallbackContext } from './contexts.ts';

type CallbackResult<T> = T | undefined | void | Promise<T | undefined | void>;

/** A request to a model, for a callback to change in place. */
export interface LlmRequest {
  instruction?: string;
  contents: Content[];
  tools: ToolDeclaration[];
  config?: GenerationConfig;
}

/** An answer of a model, or one in its place. `finishReason` is `stop` unless said. */
export type LlmResponse = Pick<ModelResponse, 'content'> & Partial<ModelResponse>;

/** The tool of a call, as callbacks see it. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
}

/** One callback, or several: the first that returns something has the last word. */
export type OneOrMany<C> = C | readonly C[];

/**
 * Asked before or after an agent runs. Before: what it returns is said in the agent's place. After: it is said as well.
 * ADK's `beforeAgentCallback` and `afterAgentCallback`.
 */
export type AgentCallback = (context: CallbackContext) => CallbackResult<Content>;

/** May change `request` in place; what it returns stands for the model's answer, and the model is not asked. */
export type BeforeModelCallback = (params: {
  readonly context: CallbackContext;
  readonly request: LlmRequest;
}) => CallbackResult<LlmResponse>;

/** Sees each answer of a model before it counts; what it returns replaces those members of the answer that it names. */
export type AfterModelCallback = (params: {
  readonly context: CallbackContext;
  readonly response: LlmResponse;
}) => CallbackResult<LlmResponse>;

/**
 * Asked when a model has failed with all its attempts used; what it returns is the answer, nothing lets the turn fail.
 */
export type OnModelErrorCallback = (params: {
  readonly context: CallbackContext;
  readonly request: LlmRequest;
  readonly error: Error;
}) => CallbackResult<LlmResponse>;

/** May change `args` in place; what it returns stands for the tool's result. */
export type BeforeToolCallback = (params: {
  readonly tool: ToolInfo;
  readonly args: Record<string, Json>;
  readonly context: ToolCallbackContext;
}) => CallbackResult<Json>;

/** Asked when a tool has run well; what it returns is the result in place of `response`. */
export type AfterToolCallback = (params: {
  readonly tool: ToolInfo;
  readonly args: JsonObject;
  readonly context: ToolCallbackContext;
  readonly response: JsonObject;
}) => CallbackResult<Json>;

/**
 * Asked when a tool failed; what it returns is its result in place of the error, nothing leaves the error to the model.
 */
export type OnToolErrorCallback = (params: {
  readonly tool: ToolInfo;
  readonly args: JsonObject;
  readonly context: ToolCallbackContext;
  readonly error: Error;
}) => CallbackResult<Json>;

/** The callbacks of one agent, or of a plugin for all of them. */
export interface AgentCallbacks {
  readonly beforeAgentCallback?: OneOrMany<AgentCallback>;
  readonly afterAgentCallback?: OneOrMany<AgentCallback>;
  readonly beforeModelCallback?: OneOrMany<BeforeModelCallback>;
  readonly afterModelCallback?: OneOrMany<AfterModelCallback>;
  readonly onModelErrorCallback?: OneOrMany<OnModelErrorCallback>;
  readonly beforeToolCallback?: OneOrMany<BeforeToolCallback>;
  readonly afterToolCallback?: OneOrMany<AfterToolCallback>;
  readonly onToolErrorCallback?: OneOrMany<OnToolErrorCallback>;
}
