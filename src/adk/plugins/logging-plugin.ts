import { checkDefinition } from '../../core/internal.ts';
import { isTextPart, optionTable } from '../../core/index.ts';
import type { Content, Event, Json, JsonObject, OptionTable } from '../../core/index.ts';
import { BasePlugin } from './base-plugin.ts';
import type { ToolInfo, LlmRequest, LlmResponse } from '../contracts/agent-callbacks.ts';
import type {
  CallbackContext,
  InvocationContext,
  ToolCallbackContext,
} from '../contracts/contexts.ts';

/** Options of `LoggingPlugin`. */
export interface LoggingPluginOptions {
  /** Receives each line. */
  readonly print: (line: string) => void;
  /** Default: `logging`. */
  readonly name?: string;
  /** Maximum number of characters of a text; longer texts are cut. Default: 200. */
  readonly maxLength?: number;
}

const DEFAULT_MAX_LENGTH = 200;

/** The options of `LoggingPlugin`. */
export const LOGGING_PLUGIN_OPTIONS: OptionTable = optionTable<LoggingPluginOptions>(
  'LoggingPlugin',
  {
    print: true,
    name: true,
    maxLength: true,
  },
);

/** Prints one line at each plugin callback. Changes nothing. */
export class LoggingPlugin extends BasePlugin {
  readonly #print: (line: string) => void;
  readonly #maxLength: number;

  constructor(options: LoggingPluginOptions) {
    if (new.target === LoggingPlugin) checkDefinition(LOGGING_PLUGIN_OPTIONS, options);
    const { print, name = 'logging', maxLength = DEFAULT_MAX_LENGTH } = options;
    super(name);
    this.#print = print;
    this.#maxLength = maxLength;
  }

  override async onUserMessageCallback({
    invocationContext: { invocationId, userId, sessionId },
    userMessage,
  }: {
    readonly invocationContext: InvocationContext;
    readonly userMessage: Content;
  }): Promise<undefined> {
    this.#log(
      'user message',
      `${this.#toText(userMessage)} (${userId}/${sessionId})`,
      invocationId,
    );
  }

  override async beforeRunCallback({
    invocationContext: { invocationId, agent },
  }: {
    readonly invocationContext: InvocationContext;
  }): Promise<undefined> {
    this.#log('invocation begins', agent?.name ?? '', invocationId);
  }

  override async onEventCallback({
    event: { invocationId, author, content, errorMessage, id },
  }: {
    readonly invocationContext: InvocationContext;
    readonly event: Event;
  }): Promise<undefined> {
    const text = errorMessage ?? (content === undefined ? '' : this.#toText(content));
    this.#log('event', `${id} of ${author}: ${text}`, invocationId);
  }

  override async afterRunCallback({
    invocationContext: { invocationId },
  }: {
    readonly invocationContext: InvocationContext;
  }): Promise<void> {
    this.#log('invocation ends', '', invocationId);
  }

  override async beforeAgentCallback({
    callbackContext,
  }: {
    readonly callbackContext: CallbackContext;
  }): Promise<undefined> {
    this.#logForAgent('agent begins', callbackContext, '');
  }

  override async afterAgentCallback({
    callbackContext,
  }: {
    readonly callbackContext: CallbackContext;
  }): Promise<undefined> {
    this.#logForAgent('agent ends', callbackContext, '');
  }

  override async beforeModelCallback({
    callbackContext,
    llmRequest: { contents, tools },
  }: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
  }): Promise<undefined> {
    const names = tools.map(({ name }) => name).join(', ') || '(none)';
    this.#logForAgent('model call', callbackContext, `${contents.length} contents, tools ${names}`);
  }

  override async afterModelCallback({
    callbackContext,
    llmResponse: { content, usage },
  }: {
    readonly callbackContext: CallbackContext;
    readonly llmResponse: LlmResponse;
  }): Promise<undefined> {
    const tokens = usage === undefined ? '' : ` (${JSON.stringify(usage)})`;
    this.#logForAgent('model answer', callbackContext, `${this.#toText(content)}${tokens}`);
  }

  override async onModelErrorCallback({
    callbackContext,
    error,
  }: {
    readonly callbackContext: CallbackContext;
    readonly llmRequest: LlmRequest;
    readonly error: Error;
  }): Promise<undefined> {
    this.#logForAgent('model error', callbackContext, error.message);
  }

  override async beforeToolCallback({
    tool,
    toolArgs,
    toolContext,
  }: {
    readonly tool: ToolInfo;
    readonly toolArgs: Record<string, Json>;
    readonly toolContext: ToolCallbackContext;
  }): Promise<undefined> {
    this.#logForAgent('tool call', toolContext, `${tool.name}(${JSON.stringify(toolArgs)})`);
  }

  override async afterToolCallback({
    tool,
    toolContext,
    result,
  }: {
    readonly tool: ToolInfo;
    readonly toolArgs: JsonObject;
    readonly toolContext: ToolCallbackContext;
    readonly result: JsonObject;
  }): Promise<undefined> {
    this.#logForAgent('tool result', toolContext, `${tool.name}: ${JSON.stringify(result)}`);
  }

  override async onToolErrorCallback({
    tool,
    toolContext,
    error,
  }: {
    readonly tool: ToolInfo;
    readonly toolArgs: JsonObject;
    readonly toolContext: ToolCallbackContext;
    readonly error: Error;
  }): Promise<undefined> {
    this.#logForAgent('tool error', toolContext, `${tool.name}: ${error.message}`);
  }

  #logForAgent(label: string, { agentName, invocationId }: CallbackContext, detail: string): void {
    this.#log(label, detail === '' ? agentName : `${agentName}: ${detail}`, invocationId);
  }

  #log(label: string, detail: string, invocationId: string): void {
    const text = detail.length > this.#maxLength ? `${detail.slice(0, this.#maxLength)}…` : detail;
    this.#print(`[${this.name}] ${label} · ${invocationId}${text === '' ? '' : ` · ${text}`}`);
  }

  #toText({ parts }: Content): string {
    return parts
      .map((part) => {
        if (isTextPart(part)) return part.text;
        if ('functionCall' in part) return `→ ${part.functionCall.name}`;
        if ('functionResponse' in part) return `← ${part.functionResponse.name}`;
        return 'inlineData' in part ? `<${part.inlineData.mimeType}>` : '<other>';
      })
      .join(' ');
  }
}
