import type { CallbackContext as NetContext, Callbacks } from '../agents/index.ts';
import { isJsonObject, PetrichorError } from '../core/index.ts';
import type { Json, JsonObject } from '../core/index.ts';
import type { ModelRequest, ModelResponse } from '../models/index.ts';
import type { AroundModel } from './around-model.ts';
import { overrides } from './base-plugin.ts';
import type { BasePlugin } from './base-plugin.ts';
import type {
  AgentCallbacks,
  CalledTool,
  LlmRequest,
  LlmResponse,
  OneOrMany,
} from './agent-callbacks.ts';
import type { Compilation } from './compilation.ts';
import type { CallbackContext, ToolCallbackContext } from './contexts.ts';
import type { DescribedAgent } from './described-agent.ts';

type One<K extends keyof AgentCallbacks> =
  NonNullable<AgentCallbacks[K]> extends OneOrMany<infer C> ? C : never;

/** What went wrong with a model or a tool, as a callback is told. */
class ReportedError extends PetrichorError {
  override readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The callbacks of an agent and of the plugins before it, as its net asks them. Where nobody has a callback the net has no
 * transition for one.
 */
export function netCallbacks(
  agent: DescribedAgent,
  own: AgentCallbacks,
  toolOf: (name: string) => CalledTool,
  compilation: Compilation,
  around: AroundModel = {},
): Callbacks {
  const { plugins } = compilation;
  const contextOf = async (net: NetContext): Promise<CallbackContext> => {
    const { sessionKey, ...rest } = net;
    const userContent = await compilation.userContentOf(sessionKey, net.invocationId);
    return { ...rest, ...sessionKey, userContent };
  };
  const toolContextOf = async (net: NetContext, callId: string): Promise<ToolCallbackContext> => ({
    ...(await contextOf(net)),
    functionCallId: callId,
  });
  const last = (context: CallbackContext, response: LlmResponse): LlmResponse =>
    around.after?.({ context, response }) ?? response;
  const first = async <C extends (params: never) => unknown>(
    callbacks: readonly C[],
    ask: (callback: C) => unknown,
  ): Promise<Awaited<ReturnType<C>> | undefined> => {
    for (const callback of callbacks) {
      const said = await ask(callback);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `ask` calls this callback
      if (said !== undefined && said !== null) return said as Awaited<ReturnType<C>>;
    }
    return undefined;
  };
  const beforeAgent = listed(
    own,
    plugins,
    'beforeAgentCallback',
    (plugin) => async (context) => plugin.beforeAgentCallback({ agent, callbackContext: context }),
  );
  const afterAgent = listed(
    own,
    plugins,
    'afterAgentCallback',
    (plugin) => async (context) => plugin.afterAgentCallback({ agent, callbackContext: context }),
  );
  const beforeModel = listed(
    own,
    plugins,
    'beforeModelCallback',
    (plugin) => async (params) =>
      plugin.beforeModelCallback({ callbackContext: params.context, llmRequest: params.request }),
  );
  const afterModel = listed(
    own,
    plugins,
    'afterModelCallback',
    (plugin) => async (params) =>
      plugin.afterModelCallback({ callbackContext: params.context, llmResponse: params.response }),
  );
  const onModelError = listed(
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
  const beforeTool = listed(
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
  const afterTool = listed(
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
  const onToolError = listed(
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
        const context = await contextOf(net);
        return (await first(beforeAgent, (callback) => callback(context))) ?? undefined;
      },
    }),
    ...(afterAgent.length > 0 && {
      afterAgent: async (net) => {
        const context = await contextOf(net);
        return (await first(afterAgent, (callback) => callback(context))) ?? undefined;
      },
    }),
    ...((beforeModel.length > 0 || around.before !== undefined) && {
      beforeModel: async (net, asked) => {
        const context = await contextOf(net);
        const request = changeable(asked);
        around.before?.({ context, request });
        const said = await first(beforeModel, (callback) => callback({ context, request }));
        if (said !== undefined && said !== null)
          return { response: responseOf(last(context, said)) };
        const changes = changesOf(asked, request);
        return Object.keys(changes).length === 0 ? undefined : { request: changes };
      },
    }),
    ...((afterModel.length > 0 || around.after !== undefined) && {
      afterModel: async (net, response) => {
        const context = await contextOf(net);
        const said = await first(afterModel, (callback) => callback({ context, response }));
        const whole = said ? { ...response, ...said } : response;
        const counts = last(context, whole);
        return counts === response ? undefined : { response: { ...response, ...counts } };
      },
    }),
    ...(onModelError.length > 0 && {
      onModelError: async (net, { code, message, request: asked }) => {
        const context = await contextOf(net);
        const request = changeable(asked);
        const error = new ReportedError(code, message);
        const said = await first(onModelError, (callback) => callback({ context, request, error }));
        return said ? { response: responseOf(said) } : undefined;
      },
    }),
    ...((beforeTool.length > 0 || around.refuse !== undefined) && {
      beforeTool: async (net, { callId, name, args: asked }) => {
        const context = await toolContextOf(net, callId);
        const tool = toolOf(name);
        const refused = around.refuse?.({ context, tool });
        if (refused !== undefined) return { response: refused };
        const args = structuredClone(asked);
        const said = await first(beforeTool, (callback) => callback({ tool, args, context }));
        if (said !== undefined) return { response: said };
        return JSON.stringify(args) === JSON.stringify(asked) ? undefined : { args };
      },
    }),
    ...(afterTool.length > 0 && {
      afterTool: async (net, { callId, name, args, response }) => {
        const context = await toolContextOf(net, callId);
        const tool = toolOf(name);
        const said = await first(afterTool, (callback) =>
          callback({ tool, args, context, response }),
        );
        return said === undefined ? undefined : { response: said };
      },
    }),
    ...(onToolError.length > 0 && {
      onToolError: async (net, { callId, name, args, response, outcome }) => {
        const context = await toolContextOf(net, callId);
        const tool = toolOf(name);
        const error = new ReportedError(outcome, messageIn(response));
        const said = await first(onToolError, (callback) =>
          callback({ tool, args, context, error }),
        );
        return said === undefined ? undefined : { response: said };
      },
    }),
  };
}

/** The plugins' callbacks of a kind, and then the agent's own. */
function listed<K extends keyof AgentCallbacks & keyof BasePlugin>(
  own: AgentCallbacks,
  plugins: readonly BasePlugin[],
  kind: K,
  asked: (plugin: BasePlugin) => One<K>,
): readonly One<K>[] {
  const mine = own[kind];
  const list = (mine === undefined ? [] : Array.isArray(mine) ? mine : [mine]) as readonly One<K>[];
  return [...plugins.filter((plugin) => overrides(plugin, kind)).map(asked), ...list];
}

function changeable({ instruction, contents, tools, config }: ModelRequest): LlmRequest {
  return {
    contents: [...contents],
    tools: [...tools],
    ...(instruction !== undefined && { instruction }),
    ...(config !== undefined && { config }),
  };
}

/** What is not as it was: lists by their members, so that nothing long is compared. */
function changesOf(asked: ModelRequest, now: LlmRequest): Partial<ModelRequest> {
  return {
    ...(now.instruction !== undefined &&
      now.instruction !== asked.instruction && { instruction: now.instruction }),
    ...(!sameMembers(now.contents, asked.contents) && { contents: now.contents }),
    ...(!sameMembers(now.tools, asked.tools) && { tools: now.tools }),
    ...(now.config !== undefined && now.config !== asked.config && { config: now.config }),
  };
}

function sameMembers(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}

function responseOf(response: LlmResponse): ModelResponse {
  return { finishReason: 'stop', ...response };
}

function messageIn(response: JsonObject): string {
  const { error } = response;
  const message: Json | undefined = isJsonObject(error) ? error['message'] : error;
  return typeof message === 'string' ? message : JSON.stringify(response);
}
