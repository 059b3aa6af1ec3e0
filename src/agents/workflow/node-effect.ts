import { omitUndefined } from '../../core/internal.ts';
import { allOf, effect, oneOf } from '../../net/index.ts';
import type { Effect } from '../../net/index.ts';
import { GeneratorRuntime } from '../generator/generator-runtime.ts';
import { messageArcs } from '../vocabulary/agent-message.ts';
import { effectInhibitors, stopRequested } from '../vocabulary/control.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { state } from '../vocabulary/state.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import { inputRequestEvent, toParkedInputRequest } from './input-request.ts';
import { bodyOptions, NO_TRANSFER, NODE_TIMEOUT_MS, nodeFailed } from './node-body.ts';
import type { NodeEffectOptions } from './node-body.ts';
import type { NodeContext } from './node-context.ts';
import type { FunctionNodeDefinition } from './workflow-definition.ts';
import { nodeDone, nodeStep, nodeWaiting, workflowBudget } from './workflow-places.ts';
import type { NodeDone, NodeStep } from './workflow-places.ts';

/** The effect that runs a function node to its end, or to its next yield. */
export function functionEffect(
  node: FunctionNodeDefinition,
  options: NodeEffectOptions,
): Effect<{
  readonly step: ReturnType<typeof nodeStep>;
  readonly budget: typeof workflowBudget;
}> {
  const { name, rerunOnResume, timeoutMs = NODE_TIMEOUT_MS, retry } = node;
  const generators = new GeneratorRuntime<NodeStep, NodeContext>({
    ...bodyOptions(node, options),
    form: { name, otherValues: 'output', unsupported: { transferToAgent: NO_TRANSFER } },
    showsOutput: options.isLast,
    resumesWithAnswer: rerunOnResume === true,
  });
  return effect(`node.run-${name}`, {
    take: { step: nodeStep(name), budget: workflowBudget },
    read: { conversation, state },
    unless: effectInhibitors,
    give: oneOf({
      said: allOf({ next: nodeStep(name), ...messageArcs }),
      done: allOf({ done: nodeDone(name), ...messageArcs }),
      // The node waits for an answer from outside.
      asks: allOf({ parked: toolParked, waiting: nodeWaiting(name), ...messageArcs }),
      stopped: allOf({ stop: stopRequested, ...messageArcs }),
    }),
    timeoutMs,
    ...omitUndefined({ retry }),
    onCrash: rerunOnResume === false ? 'unknown' : 'rerun',
    failed: (failure, { step }) => ({ stopped: nodeFailed(name, step, failure) }),
    run: async (inputs, effectContext) => {
      const result = await generators.runStep({ ...inputs, effect: effectContext });
      const { step: after, outputs } = result;
      switch (result.next) {
        case 'step':
          return { said: { next: after, ...outputs } };
        case 'done': {
          const { path, output, route, escalate } = after;
          const done: NodeDone = { path, ...omitUndefined({ output, route, escalate }) };
          return { done: { done, ...outputs } };
        }
        case 'endInvocation':
          return { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } };
        case 'ask': {
          const { callId, question } = result;
          const parked = toParkedInputRequest(name, callId, question, after);
          const request = inputRequestEvent(options.identity, after, callId, question);
          const waiting = { ...after, callId };
          return { asks: { parked, waiting, ...outputs, events: [...outputs.events, request] } };
        }
        case 'runSubAgent':
        case 'transfer':
          throw new Error(`Node "${name}" ran an agent, although its form refuses that.`);
        default:
          return result satisfies never;
      }
    },
  });
}
