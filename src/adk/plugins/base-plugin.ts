import type { Content, Event, Json, JsonObject } from '../../core/index.ts';
import type { LlmAgentSettings } from './llm-agent-settings.ts';
import type { ToolInfo, LlmRequest, LlmResponse } from '../contracts/agent-callbacks.ts';
import type { Interceptor } from '../../runtime/index.ts';
import type {
  CallbackContext,
  InvocationContext,
  ToolCallbackContext,
} from '../contracts/contexts.ts';
import type { AgentInfo } from '../contracts/agent-info.ts';

/**
 * Callbacks for every agent of an app. Override those you need: only these become transitions of the agents' nets. Plugins
 * are asked in the order of the app, before the agents' own callbacks, and the first that returns something has the last
 * word. One that throws is a failure of what it was asked about, not of the session.
 */
export class BasePlugin {
  readonly name: string;
  /** Watches the sessions of the app at work. */
  readonly interceptor: Interceptor | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Once for each agent with a model, when the app is built: what it returns stands for these members. */
  configureAgent(_settings: LlmAgentSettings): Partial<LlmAgentSettings> | undefined {
    return undefined;
  }

  /** Before a message enters its session: another message in its place. */
  async onUserMessageCallback(_params: {
    readonly invocationContext: InvocationContext;
    readonly userMessage: Content;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** Before an invocation: an answer in its place, and no agent runs. */
  async beforeRunCallback(_params: {
    readonly invocationContext: InvocationContext;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /**
   * Before older events are summarised, in an app with `eventsCompactionConfig`: a summary of the plugin's own, and the
   * summarizer is not asked.
   */
  async beforeCompactionCallback(_params: {
    readonly appName: string;
    readonly userId: string;
    readonly sessionId: string;
    readonly events: readonly Event[];
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** For each committed event, on its way to the caller: shows another. What is stored stays. */
  async onEventCallback(_params: {
    readonly invocationContext: InvocationContext;
    readonly event: Event;
  }): Promise<Event | undefined> {
    return undefined;
  }

  /** After an invocation, when its last event was taken. */
  async afterRunCallback(_params: {
    readonly invocationContext: InvocationContext;
  }): Promise<void> {}

  /** Before an agent begins: what it returns is said in the agent's place. */
  async beforeAgentCallback(_params: {
    readonly agent: AgentInfo;
    readonly callbackContext: CallbackContext;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** When an agent is done: what it returns is said as well. */
  async afterAgentCallback(_params: {
    readonly agent: AgentInfo;
    readonly callbackContext: CallbackContext;
  }): Promise<Content | undefined> {
    return undefined;
  }

  /** Before a model is asked: changes the request in place, or answers in the model's place. */
  async beforeModelCallback(_params: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
  }): Promise<LlmResponse | undefined> {
    return undefined;
  }

  /** When a model has answered: another answer. */
  async afterModelCallback(_params: {
    readonly callbackContext: CallbackContext;
    readonly llmResponse: LlmResponse;
  }): Promise<LlmResponse | undefined> {
    return undefined;
  }

  /** When a model failed, all attempts used: an answer in its place. */
  async onModelErrorCallback(_params: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
    readonly error: Error;
  }): Promise<LlmResponse | undefined> {
    return undefined;
  }

  /** Before a call is judged, approved and run: changes its arguments in place, or gives its result. */
  async beforeToolCallback(_params: {
    readonly tool: ToolInfo;
    readonly toolArgs: Record<string, Json>;
    readonly toolContext: ToolCallbackContext;
  }): Promise<Json | undefined> {
    return undefined;
  }

  /** When a tool has run well: another result. */
  async afterToolCallback(_params: {
    readonly tool: ToolInfo;
    readonly toolArgs: JsonObject;
    readonly toolContext: ToolCallbackContext;
    readonly result: JsonObject;
  }): Promise<Json | undefined> {
    return undefined;
  }

  /** When a tool failed: a result in place of its error. */
  async onToolErrorCallback(_params: {
    readonly tool: ToolInfo;
    readonly toolArgs: JsonObject;
    readonly toolContext: ToolCallbackContext;
    readonly error: Error;
  }): Promise<Json | undefined> {
    return undefined;
  }

  /** When the runner closes. */
  async close(): Promise<void> {}
}

/** True when the plugin has this callback, and does not only inherit it. */
export function hasCallback(plugin: BasePlugin, callback: keyof BasePlugin): boolean {
  return plugin[callback] !== BasePlugin.prototype[callback];
}
