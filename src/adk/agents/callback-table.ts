import { omitUndefined } from '../../core/internal.ts';
import type { AgentCallbackContext as NetContext, Callbacks } from '../../agents/index.ts';
import { isJsonObject, PetrichorError } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { ModelRequest, ModelResponse } from '../../models/index.ts';
import type {
  AgentCallbacks,
  LlmRequest,
  LlmResponse,
  ToolInfo,
} from '../contracts/agent-callbacks.ts';
import type { AgentInfo, CallbackContext, ToolCallbackContext } from '../contracts/contexts.ts';
import type { ModelMiddleware } from '../contracts/model-middleware.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';

/** The name of a kind of callback in nets. */
export type CallbackName = keyof Callbacks;

type OneFunction<T> = Extract<NonNullable<T>, (...args: never) => unknown>;

/** A callback of an agent, by the name that its net uses. */
export type AgentCallbackFunction<N extends CallbackName> = OneFunction<
  AgentCallbacks[`${N}Callback`]
>;

/** Calls the callbacks of a kind in order. Returns the first value that is neither undefined nor null. */
export type CallInOrder<N extends CallbackName> = (
  ...args: Parameters<AgentCallbackFunction<N>>
) => Promise<Exclude<Awaited<ReturnType<AgentCallbackFunction<N>>>, void> | undefined>;

/** What callbacks use of the agent they belong to. */
export interface CallbackEnvironment {
  readonly middleware: ModelMiddleware;
  readonly toContext: (net: NetContext) => Promise<CallbackContext>;
  readonly toToolContext: (net: NetContext, callId: string) => Promise<ToolCallbackContext>;
  readonly findTool: (name: string) => ToolInfo;
}

/** One kind of callback. */
export interface CallbackRow<N extends CallbackName> {
  /** The callback of a plugin in the form of an agent's callback. */
  readonly fromPlugin: (plugin: BasePlugin, agent: AgentInfo) => AgentCallbackFunction<N>;
  /** The middleware that needs the transition even if there is no callback. */
  readonly middleware?: readonly (keyof ModelMiddleware)[];
  /** The callback in the form that the net calls. */
  readonly toNet: (
    call: CallInOrder<N>,
    environment: CallbackEnvironment,
  ) => OneFunction<Callbacks[N]>;
}

/** All kinds of callbacks, by the names that nets use. */
export const CALLBACK_TABLE: { readonly [N in CallbackName]: CallbackRow<N> } = {
  beforeAgent: {
    fromPlugin: (plugin, agent) => async (context) =>
      plugin.beforeAgentCallback({ agent, callbackContext: context }),
    toNet:
      (call, { toContext }) =>
      async (net) =>
        call(await toContext(net)),
  },
  afterAgent: {
    fromPlugin: (plugin, agent) => async (context) =>
      plugin.afterAgentCallback({ agent, callbackContext: context }),
    toNet:
      (call, { toContext }) =>
      async (net) =>
        call(await toContext(net)),
  },
  beforeModel: {
    fromPlugin:
      (plugin) =>
      async ({ context, request }) =>
        plugin.beforeModelCallback({ callbackContext: context, llmRequest: request }),
    middleware: ['before'],
    toNet:
      (call, { toContext, middleware }) =>
      async (net, original) => {
        const context = await toContext(net);
        const request = toLlmRequest(original);
        await middleware.before?.({ context, request });
        const response = await call({ context, request });
        if (response !== undefined)
          return {
            response: toModelResponse(middleware.after?.({ context, response }) ?? response),
          };
        const changes = diffRequest(original, request);
        return Object.keys(changes).length === 0 ? undefined : { request: changes };
      },
  },
  afterModel: {
    fromPlugin:
      (plugin) =>
      async ({ context, response }) =>
        plugin.afterModelCallback({ callbackContext: context, llmResponse: response }),
    middleware: ['after'],
    toNet:
      (call, { toContext, middleware }) =>
      async (net, original) => {
        const context = await toContext(net);
        const result = await call({ context, response: original });
        const response = result === undefined ? original : { ...original, ...result };
        const final = middleware.after?.({ context, response }) ?? response;
        return final === original ? undefined : { response: { ...original, ...final } };
      },
  },
  onModelError: {
    fromPlugin:
      (plugin) =>
      async ({ context, request, error }) =>
        plugin.onModelErrorCallback({ callbackContext: context, llmRequest: request, error }),
    toNet:
      (call, { toContext }) =>
      async (net, { code, message, request }) => {
        const response = await call({
          context: await toContext(net),
          request: toLlmRequest(request),
          error: new ReportedError(code, message),
        });
        return response && { response: toModelResponse(response) };
      },
  },
  beforeTool: {
    fromPlugin:
      (plugin) =>
      async ({ tool, args, context }) =>
        plugin.beforeToolCallback({ tool, toolArgs: args, toolContext: context }),
    middleware: ['rejectToolCall'],
    toNet:
      (call, { toToolContext, findTool, middleware }) =>
      async (net, { callId, name, args: original }) => {
        const context = await toToolContext(net, callId);
        const tool = findTool(name);
        const rejected = middleware.rejectToolCall?.({ context, tool });
        if (rejected !== undefined) return { response: rejected };
        const args = structuredClone(original);
        const response = await call({ tool, args, context });
        if (response !== undefined) return { response };
        return JSON.stringify(args) === JSON.stringify(original) ? undefined : { args };
      },
  },
  afterTool: {
    fromPlugin:
      (plugin) =>
      async ({ tool, args, context, response }) =>
        plugin.afterToolCallback({ tool, toolArgs: args, toolContext: context, result: response }),
    toNet:
      (call, { toToolContext, findTool }) =>
      async (net, { callId, name, args, response: original }) => {
        const context = await toToolContext(net, callId);
        const response = await call({ tool: findTool(name), args, context, response: original });
        return response === undefined ? undefined : { response };
      },
  },
  onToolError: {
    fromPlugin:
      (plugin) =>
      async ({ tool, args, context, error }) =>
        plugin.onToolErrorCallback({ tool, toolArgs: args, toolContext: context, error }),
    toNet:
      (call, { toToolContext, findTool }) =>
      async (net, { callId, name, args, response: original, outcome }) => {
        const context = await toToolContext(net, callId);
        const error = new ReportedError(outcome, readErrorMessage(original));
        const response = await call({ tool: findTool(name), args, context, error });
        return response === undefined ? undefined : { response };
      },
  },
};

/** The error of a model or tool, as passed to a callback. */
class ReportedError extends PetrichorError {
  override readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function toLlmRequest({ instruction, contents, tools, config }: ModelRequest): LlmRequest {
  return {
    contents: [...contents],
    tools: [...tools],
    ...omitUndefined({ instruction, config }),
  };
}

/** Returns the changed members. Lists are compared by the identity of their items, so no long text is compared. */
function diffRequest(before: ModelRequest, after: LlmRequest): Partial<ModelRequest> {
  return omitUndefined({
    instruction:
      after.instruction !== undefined && after.instruction !== before.instruction
        ? after.instruction
        : undefined,
    contents: !sameMembers(after.contents, before.contents) ? after.contents : undefined,
    tools: !sameMembers(after.tools, before.tools) ? after.tools : undefined,
    config: after.config !== undefined && after.config !== before.config ? after.config : undefined,
  });
}

function sameMembers(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}

function toModelResponse(response: LlmResponse): ModelResponse {
  return { finishReason: 'stop', ...response };
}

function readErrorMessage(response: JsonObject): string {
  const { error } = response;
  const message: Json | undefined = isJsonObject(error) ? error['message'] : error;
  return typeof message === 'string' ? message : JSON.stringify(response);
}
