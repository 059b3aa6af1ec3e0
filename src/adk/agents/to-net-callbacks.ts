import type { AgentCallbackContext as NetContext, Callbacks } from '../../agents/index.ts';
import type { AgentCallbacks, ToolInfo } from '../contracts/agent-callbacks.ts';
import type { AgentInfo, CallbackContext } from '../contracts/contexts.ts';
import type { ModelMiddleware } from '../contracts/model-middleware.ts';
import { hasCallback } from '../plugins/base-plugin.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { CALLBACK_TABLE } from './callback-table.ts';
import type {
  CallbackEnvironment,
  CallbackName,
  CallbackRow,
  CallInOrder,
} from './callback-table.ts';

/**
 * Converts the callbacks of an agent, and those of the plugins before it, to the form its net calls. If there is no
 * callback of a kind, the net gets no transition for it.
 */
export function toNetCallbacks(
  agent: AgentInfo,
  own: AgentCallbacks,
  findTool: (name: string) => ToolInfo,
  { plugins, findUserContent }: CompileContext,
  middleware: ModelMiddleware = {},
): Callbacks {
  const toContext = async (net: NetContext): Promise<CallbackContext> => {
    const { sessionKey, ...rest } = net;
    const userContent = await findUserContent(sessionKey, net.invocationId);
    return { ...rest, ...sessionKey, userContent };
  };
  const environment: CallbackEnvironment = {
    middleware,
    toContext,
    toToolContext: async (net, callId) => ({ ...(await toContext(net)), functionCallId: callId }),
    findTool,
  };
  const toNetCallback = <N extends CallbackName>(name: N): Pick<Callbacks, N> => {
    const row: CallbackRow<N> = CALLBACK_TABLE[name];
    const kind = `${name}Callback` as const;
    const callbacks = [
      ...plugins
        .filter((plugin) => hasCallback(plugin, kind))
        .map((plugin) => row.fromPlugin(plugin, agent)),
      ...[own[kind] ?? []].flat(),
    ];
    const isNeeded =
      callbacks.length > 0 || row.middleware?.some((hook) => middleware[hook] !== undefined);
    const compiled = isNeeded === true && {
      [name]: row.toNet(callInOrder(callbacks), environment),
    };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the row of `name` returns the callback of `name`
    return { ...compiled } as unknown as Pick<Callbacks, N>;
  };
  return {
    ...toNetCallback('beforeAgent'),
    ...toNetCallback('afterAgent'),
    ...toNetCallback('beforeModel'),
    ...toNetCallback('afterModel'),
    ...toNetCallback('onModelError'),
    ...toNetCallback('beforeTool'),
    ...toNetCallback('afterTool'),
    ...toNetCallback('onToolError'),
  };
}

function callInOrder<N extends CallbackName>(callbacks: readonly unknown[]): CallInOrder<N> {
  const call = async (...args: readonly unknown[]): Promise<unknown> => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they are the callbacks of one kind
    for (const callback of callbacks as readonly ((...args: readonly unknown[]) => unknown)[]) {
      const result = await callback(...args);
      if (result !== undefined && result !== null) return result;
    }
    return undefined;
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the type of the callbacks it calls
  return call as CallInOrder<N>;
}

/** Tool info for an agent that does not know its tools. */
export function toToolInfo(name: string): { readonly name: string; readonly description: string } {
  return { name, description: '' };
}
