import { omitUndefined } from '../../core/internal.ts';
import type { AgentCallbackContext as NetContext, Callbacks } from '../../agents/index.ts';
import { isJsonObject, PetrichorError } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { ModelRequest, ModelResponse } from '../../models/index.ts';
import type { ModelMiddleware } from '../contracts/model-middleware.ts';
import { hasCallback } from '../plugins/base-plugin.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import type {
  AgentCallbacks,
  ToolInfo,
  LlmRequest,
  LlmResponse,
  OneOrMany,
} from '../contracts/agent-callbacks.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import type { CallbackContext, ToolCallbackContext } from '../contracts/contexts.ts';
import type { AgentInfo } from '../contracts/contexts.ts';

type CallbackType<K extends keyof AgentCallbacks> =
  NonNullable<AgentCallbacks[K]> extends OneOrMany<infer C> ? C : never;

/** The error of a model or tool, as passed to a callback. */
class ReportedError extends PetrichorError {
  override readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Converts the callbacks of an agent, and those of the plugins before it, to the form its net calls. If there is no
 * callback of a kind, the net gets no transition for it.
 */
export function toNetCallbacks(
  agent: AgentInfo,
  own: AgentCallbacks,
  findTool: (name: string) => ToolInfo,
  compileContext: CompileContext,
  middleware: ModelMiddleware = {},
): Callbacks {
  const { plugins } = compileContext;
  const toCallbackContext = async (net: NetContext): Promise<CallbackContext> => {
    const { sessionKey, ...rest } = net;
    const userContent = await compileContext.findUserContent(sessionKey, net.invocationId);
    return { ...rest, ...sessionKey, userContent };
  };
  const toToolContext = async (net: NetContext, callId: string): Promise<ToolCallbackContext> => ({
    ...(await toCallbackContext(net)),
    functionCallId: callId,
  });
  const runAfterMiddleware = (context: CallbackContext, response: LlmResponse): LlmResponse =>
    middleware.after?.({ context, response }) ?? response;
  const firstResult = async <C extends (params: never) => unknown>(
    callbacks: readonly C[],
    call: (callback: C) => unknown,
  ): Promise<Awaited<ReturnType<C>> | undefined> => {
    for (const callback of callbacks) {
      const result = await call(callback);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `ask` calls this callback
      if (result !== undefined && result !== null) return result as Awaited<ReturnType<C>>;
    }
    return undefined;
  };
  const beforeAgent = listCallbacks(
    own,
    plugins,
    'beforeAgentCallback',
    (plugin) => async (context) => plugin.beforeAgentCallback({ agent, callbackContext: context }),
  );
  const afterAgent = listCallbacks(
    own,
    plugins,
    'afterAgentCallback',
    (plugin) => async (context) => plugin.afterAgentCallback({ agent, callbackContext: context }),
  );
  const beforeModel = listCallbacks(
    own,
    plugins,
    'beforeModelCallback',
    (plugin) => async (params) =>
      plugin.beforeModelCallback({ callbackContext: params.context, llmRequest: params.request }),
  );
  const afterModel = listCallbacks(
    own,
    plugins,
    'afterModelCallback',
    (plugin) => async (params) =>
      plugin.afterModelCallback({ callbackContext: params.context, llmResponse: params.response }),
  );
  const onModelError = listCallbacks(
    own,
    plugins,
    'onModelErrorCallback',
    (plugin) => async (params) =>
      plugin.onModelErrorCallback({
        callbackContext: params.context,
        llmRequest: params.request,
        error: params.error,
      }),
  );
  const beforeTool = listCallbacks(
    own,
    plugins,
    'beforeToolCallback',
    (plugin) => async (params) =>
      plugin.beforeToolCallback({
        tool: params.tool,
        toolArgs: params.args,
        toolContext: params.context,
      }),
  );
  const afterTool = listCallbacks(
    own,
    plugins,
    'afterToolCallback',
    (plugin) => async (params) =>
      plugin.afterToolCallback({
        tool: params.tool,
        toolArgs: params.args,
        toolContext: params.context,
        result: params.response,
      }),
  );
  const onToolError = listCallbacks(
    own,
    plugins,
    'onToolErrorCallback',
    (plugin) => async (params) =>
      plugin.onToolErrorCallback({
        tool: params.tool,
        toolArgs: params.args,
        toolContext: params.context,
        error: params.error,
      }),
  );
  return {
    ...(beforeAgent.length > 0 && {
      beforeAgent: async (net) => {
        const context = await toCallbackContext(net);
        return (await firstResult(beforeAgent, (callback) => callback(context))) ?? undefined;
      },
    }),
    ...(afterAgent.length > 0 && {
      afterAgent: async (net) => {
        const context = await toCallbackContext(net);
        return (await firstResult(afterAgent, (callback) => callback(context))) ?? undefined;
      },
    }),
    ...((beforeModel.length > 0 || middleware.before !== undefined) && {
      beforeModel: async (net, original) => {
        const context = await toCallbackContext(net);
        const request = toLlmRequest(original);
        middleware.before?.({ context, request });
        const result = await firstResult(beforeModel, (callback) => callback({ context, request }));
        if (result !== undefined && result !== null)
          return { response: toModelResponse(runAfterMiddleware(context, result)) };
        const changes = diffRequest(original, request);
        return Object.keys(changes).length === 0 ? undefined : { request: changes };
      },
    }),
    ...((afterModel.length > 0 || middleware.after !== undefined) && {
      afterModel: async (net, response) => {
        const context = await toCallbackContext(net);
        const result = await firstResult(afterModel, (callback) => callback({ context, response }));
        const merged = result ? { ...response, ...result } : response;
        const final = runAfterMiddleware(context, merged);
        return final === response ? undefined : { response: { ...response, ...final } };
      },
    }),
    ...(onModelError.length > 0 && {
      onModelError: async (net, { code, message, request: original }) => {
        const context = await toCallbackContext(net);
        const request = toLlmRequest(original);
        const error = new ReportedError(code, message);
        const result = await firstResult(onModelError, (callback) =>
          callback({ context, request, error }),
        );
        return result ? { response: toModelResponse(result) } : undefined;
      },
    }),
    ...((beforeTool.length > 0 || middleware.rejectToolCall !== undefined) && {
      beforeTool: async (net, { callId, name, args: original }) => {
        const context = await toToolContext(net, callId);
        const tool = findTool(name);
        const rejected = middleware.rejectToolCall?.({ context, tool });
        if (rejected !== undefined) return { response: rejected };
        const args = structuredClone(original);
        const result = await firstResult(beforeTool, (callback) =>
          callback({ tool, args, context }),
        );
        if (result !== undefined) return { response: result };
        return JSON.stringify(args) === JSON.stringify(original) ? undefined : { args };
      },
    }),
    ...(afterTool.length > 0 && {
      afterTool: async (net, { callId, name, args, response }) => {
        const context = await toToolContext(net, callId);
        const tool = findTool(name);
        const result = await firstResult(afterTool, (callback) =>
          callback({ tool, args, context, response }),
        );
        return result === undefined ? undefined : { response: result };
      },
    }),
    ...(onToolError.length > 0 && {
      onToolError: async (net, { callId, name, args, response, outcome }) => {
        const context = await toToolContext(net, callId);
        const tool = findTool(name);
        const error = new ReportedError(outcome, readErrorMessage(response));
        const result = await firstResult(onToolError, (callback) =>
          callback({ tool, args, context, error }),
        );
        return result === undefined ? undefined : { response: result };
      },
    }),
  };
}

/** The plugins' callbacks of a kind, followed by the agent's own. */
function listCallbacks<K extends keyof AgentCallbacks & keyof BasePlugin>(
  own: AgentCallbacks,
  plugins: readonly BasePlugin[],
  kind: K,
  fromPlugin: (plugin: BasePlugin) => CallbackType<K>,
): readonly CallbackType<K>[] {
  const ownCallbacks = own[kind];
  const list = (
    ownCallbacks === undefined ? [] : Array.isArray(ownCallbacks) ? ownCallbacks : [ownCallbacks]
  ) as readonly CallbackType<K>[];
  return [...plugins.filter((plugin) => hasCallback(plugin, kind)).map(fromPlugin), ...list];
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

/** Tool info for an agent that does not know its tools. */
export function toToolInfo(name: string): { readonly name: string; readonly description: string } {
  return { name, description: '' };
}
