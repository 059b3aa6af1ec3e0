import type { Content, Json, JsonObject } from '../../core/index.ts';
import type { GenerationConfig, ModelResponse, ToolDeclaration } from '../../models/index.ts';
import type { CallbackContext, ToolCallbackContext } from './contexts.ts';

type CallbackResult<T> = T | undefined | void | Promise<T | undefined | void>;

/** A model request. A callback may change it in place. */
export interface LlmRequest {
  instruction?: string;
  contents: Content[];
  tools: ToolDeclaration[];
  config?: GenerationConfig;
}

/** A model's answer, or a replacement for it. Default of `finishReason`: `stop`. */
export type LlmResponse = Pick<ModelResponse, 'content'> & Partial<ModelResponse>;

/** The called tool, as callbacks see it. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
}

/** One callback, or several. They are called in order until one returns a value; that value is used. */
export type OneOrMany<C> = C | readonly C[];

/**
 * Called before or after an agent runs. Content returned before the run replaces the run. Content returned after the
 * run is added to it. ADK's `beforeAgentCallback` and `afterAgentCallback`.
 */
export type AgentCallback = (context: CallbackContext) => CallbackResult<Content>;

/** May change `request` in place. If it returns a response, the model is not called and the response is used. */
export type BeforeModelCallback = (params: {
  readonly context: CallbackContext;
  readonly request: LlmRequest;
}) => CallbackResult<LlmResponse>;

/** Called with each answer of a model before it is used. The returned members replace those of the answer. */
export type AfterModelCallback = (params: {
  readonly context: CallbackContext;
  readonly response: LlmResponse;
}) => CallbackResult<LlmResponse>;

/**
 * Called when a model has failed and all attempts are used. A returned response is used as the answer; otherwise the
 * turn fails.
 */
export type OnModelErrorCallback = (params: {
  readonly context: CallbackContext;
  readonly request: LlmRequest;
  readonly error: Error;
}) => CallbackResult<LlmResponse>;

/** May change `args` in place. A returned value is used as the tool's result, and the tool is not run. */
export type BeforeToolCallback = (params: {
  readonly tool: ToolInfo;
  readonly args: Record<string, Json>;
  readonly context: ToolCallbackContext;
}) => CallbackResult<Json>;

/** Called when a tool has succeeded. A returned value replaces `response`. */
export type AfterToolCallback = (params: {
  readonly tool: ToolInfo;
  readonly args: JsonObject;
  readonly context: ToolCallbackContext;
  readonly response: JsonObject;
}) => CallbackResult<Json>;

/** Called when a tool has failed. A returned value is used as its result; otherwise the model gets the error. */
export type OnToolErrorCallback = (params: {
  readonly tool: ToolInfo;
  readonly args: JsonObject;
  readonly context: ToolCallbackContext;
  readonly error: Error;
}) => CallbackResult<Json>;

/** The callbacks of one agent, or of a plugin for all agents. */
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
