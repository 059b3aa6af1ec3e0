import type { Content, Event, Json, JsonObject } from '../../core/index.ts';
import type { ToolInfo, LlmRequest, LlmResponse } from '../contracts/agent-callbacks.ts';
import type { Interceptor } from '../../runtime/index.ts';
import type {
  CallbackContext,
  InvocationContext,
  ToolCallbackContext,
} from '../contracts/contexts.ts';
import type { AgentInfo } from '../contracts/contexts.ts';
import type { AgentDefinition } from '../../agents/index.ts';
import type { Model } from '../../models/index.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';

/**
 * Callbacks for every agent of an app. Only the methods that a subclass overrides become transitions of the agents'
 * nets. Plugins are called in the order of the app, before the agents' own callbacks; the first value returned is used.
 * If a plugin throws, the operation it was called for fails, not the session.
 */
export class BasePlugin {
  readonly name: string;
  /** Observes the sessions of the app while they run. */
  readonly interceptor: Interceptor | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }

  /**
   * Called once for each agent with a model when the app is built. The returned members replace those of the settings.
   */
  configureAgent(_settings: LlmAgentSettings): Partial<LlmAgentSettings> | undefined {
    return undefined;
  }

  /** Called before a message enters its session. May return a replacement message. */
  async onUserMessageCallback(_params: {
    readonly invocationContext: InvocationContext;
    readonly userMessage: Content;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** Called before an invocation. If it returns content, that is the answer and no agent runs. */
  async beforeRunCallback(_params: {
    readonly invocationContext: InvocationContext;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /**
   * Called before older events are summarized, in an app with `eventsCompactionConfig`. If it returns a summary, the
   * summarizer is not called.
   */
  async beforeCompactionCallback(_params: {
    readonly appName: string;
    readonly userId: string;
    readonly sessionId: string;
    readonly events: readonly Event[];
  }): Promise<Content | undefined> {
    return undefined;
  }

  /**
   * Called for each committed event before it is yielded to the caller. May return a replacement; the stored event does
   * not change.
   */
  async onEventCallback(_params: {
    readonly invocationContext: InvocationContext;
    readonly event: Event;
  }): Promise<Event | undefined> {
    return undefined;
  }

  /** Called after an invocation, once the caller has received its last event. */
  async afterRunCallback(_params: {
    readonly invocationContext: InvocationContext;
  }): Promise<void> {}

  /** Called before an agent runs. Returned content replaces the run. */
  async beforeAgentCallback(_params: {
    readonly agent: AgentInfo;
    readonly callbackContext: CallbackContext;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** Called after an agent has run. Returned content is added. */
  async afterAgentCallback(_params: {
    readonly agent: AgentInfo;
    readonly callbackContext: CallbackContext;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** Called before a model call. May change the request in place, or return an answer that replaces the call. */
  async beforeModelCallback(_params: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
  }): Promise<LlmResponse | undefined> {
    return undefined;
  }

  /** Called with a model's answer. The returned members replace those of the answer. */
  async afterModelCallback(_params: {
    readonly callbackContext: CallbackContext;
    readonly llmResponse: LlmResponse;
  }): Promise<LlmResponse | undefined> {
    return undefined;
  }

  /** Called when a model has failed and all attempts are used. May return an answer. */
  async onModelErrorCallback(_params: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
    readonly error: Error;
  }): Promise<LlmResponse | undefined> {
    return undefined;
  }

  /** Called before a call is validated, approved and run. May change its arguments in place, or return its result. */
  async beforeToolCallback(_params: {
    readonly tool: ToolInfo;
    readonly toolArgs: Record<string, Json>;
    readonly toolContext: ToolCallbackContext;
  }): Promise<Json | undefined> {
    return undefined;
  }

  /** Called when a tool has succeeded. May return another result. */
  async afterToolCallback(_params: {
    readonly tool: ToolInfo;
    readonly toolArgs: JsonObject;
    readonly toolContext: ToolCallbackContext;
    readonly result: JsonObject;
  }): Promise<Json | undefined> {
    return undefined;
  }

  /** Called when a tool has failed. May return a result in place of the error. */
  async onToolErrorCallback(_params: {
    readonly tool: ToolInfo;
    readonly toolArgs: JsonObject;
    readonly toolContext: ToolCallbackContext;
    readonly error: Error;
  }): Promise<Json | undefined> {
    return undefined;
  }

  /** Called when the runner closes. */
  async close(): Promise<void> {}
}

/** True if the plugin overrides this callback. */
export function hasCallback(plugin: BasePlugin, callback: keyof BasePlugin): boolean {
  return plugin[callback] !== BasePlugin.prototype[callback];
}

/** The settings of an agent with a model that a plugin may change before any session runs. */
export interface LlmAgentSettings extends Pick<
  AgentDefinition,
  'name' | 'context' | 'tools' | 'config' | 'modelCoolDownMs'
> {
  /** Placed before everything else in the prompt, in this order. */
  readonly leadingInstructions?: readonly (string | InstructionProvider)[];
  /** Placed before the agent's own instruction, in this order. */
  readonly globalInstructions?: readonly (string | InstructionProvider)[];
  /** A name is resolved by the runner. */
  readonly model: string | Model;
  /** Called in this order when `model` fails. */
  readonly fallbackModels?: readonly (string | Model)[];
}
