import { mergeWrites, omitUndefined } from '../../core/internal.ts';
import { allOf, effect, oneOf } from '../../net/index.ts';
import type { Effect } from '../../net/index.ts';
import type { StepOutputs } from '../generator/apply-yield.ts';
import { GeneratorRuntime } from '../generator/generator-runtime.ts';
import type { StepInputs } from '../generator/live-context.ts';
import { toSessionWrite } from '../state/session-write.ts';
import { runChildAgent } from '../vocabulary/agent-host.ts';
import { messageArcs } from '../vocabulary/agent-message.ts';
import { effectInhibitors, stopRequested } from '../vocabulary/control.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import {
  bodyOptions,
  MAX_ITEMS_AT_ONCE,
  NO_TRANSFER,
  NODE_TIMEOUT_MS,
  nodeFailed,
} from './node-body.ts';
import type { NodeEffectOptions } from './node-body.ts';
import type { NodeContext } from './node-context.ts';
import type { EachAgentNodeDefinition, EachNodeDefinition } from './workflow-definition.ts';
import { itemDone, nodeItem } from './workflow-places.ts';
import type { ItemDone, NodeItem } from './workflow-places.ts';

type ItemOutputs =
  | { readonly done: StepOutputs & { readonly result: ItemDone } }
  | { readonly stopped: StepOutputs & { readonly stop: { readonly stopReason: 'end_turn' } } };

type RunItem = (inputs: StepInputs<NodeItem>) => Promise<ItemOutputs>;

/** The effect that processes one item of a list: with a function, or with an agent in a child session. */
export function itemEffect(
  node: EachNodeDefinition | EachAgentNodeDefinition,
  options: NodeEffectOptions,
): Effect<{ readonly item: ReturnType<typeof nodeItem> }> {
  const { name, timeoutMs = NODE_TIMEOUT_MS, retry, maxAtOnce = MAX_ITEMS_AT_ONCE } = node;
  const runItem = node.kind === 'each' ? functionItems(node, options) : agentItems(node, options);
  return effect(`node.run-${name}`, {
    take: { item: nodeItem(name) },
    read: { conversation, state },
    unless: effectInhibitors,
    concurrency: maxAtOnce,
    give: oneOf({
      done: allOf({ result: itemDone(name), ...messageArcs }),
      stopped: allOf({ stop: stopRequested, ...messageArcs }),
    }),
    timeoutMs,
    ...omitUndefined({ retry }),
    onCrash: 'rerunOnResume' in node && !node.rerunOnResume ? 'unknown' : 'rerun',
    failed: (failure, { item }) => ({ stopped: nodeFailed(name, item, failure) }),
    run: async ({ item, ...inputs }, effectContext) =>
      runItem({ step: item, ...inputs, effect: effectContext }),
  });
}

function functionItems(node: EachNodeDefinition, options: NodeEffectOptions): RunItem {
  const { name } = node;
  const generators = new GeneratorRuntime<NodeItem, NodeContext>({
    ...bodyOptions(node, options),
    form: {
      name,
      otherValues: 'output',
      unsupported: {
        transferToAgent: NO_TRANSFER,
        escalate: NOT_FOR_ITEMS,
        endOfAgent: NOT_FOR_ITEMS,
      },
      questionsUnsupported: 'cannot be a question for one item of a list: ask in a function node.',
    },
    // The log shows the output of the node when all items are done.
    logsOutput: false,
  });
  return async (inputs) => {
    const { step, outputs, next } = await generators.runToEnd(inputs);
    if (next === 'endInvocation')
      return { stopped: { stop: { stopReason: 'end_turn' }, ...outputs } };
    return { done: { result: { index: step.index, output: step.output ?? null }, ...outputs } };
  };
}

const NOT_FOR_ITEMS = 'is for agents and nodes, not for one item of a list.';

function agentItems(
  { agent }: EachAgentNodeDefinition,
  { checkState }: NodeEffectOptions,
): RunItem {
  return async ({ step: { index, input, invocationId }, state: entries, effect: context }) => {
    const { host, firingId, signal } = context;
    const childOutcome = await runChildAgent(host, {
      agentName: agent.name,
      request: typeof input === 'string' ? input : JSON.stringify(input),
      firingId,
      signal,
      invocationId,
      state: entries,
      parks: false,
    });
    if (childOutcome.kind === 'waiting')
      throw new Error('runChildAgent returned `waiting` for a request with `parks: false`.');
    const { response, stateDelta, removed } = childOutcome;
    const writes = mergeWrites({ set: stateDelta, delete: removed });
    checkState?.(writes);
    const write = toSessionWrite({ ...writes, read: [] }, entries);
    return {
      done: {
        result: { index, output: response['result'] ?? null },
        said: [],
        events: [],
        write: write === undefined ? [] : [{ ...write, invocationId }],
      },
    };
  };
}
