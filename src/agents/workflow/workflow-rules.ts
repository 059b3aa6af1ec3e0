import { omitUndefined } from '../../core/internal.ts';
import { contentText } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import { all, allOf, pure, upTo } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { activateEdges, edgeOutputs, listJoinInputs, routeOutputs } from './edge-outputs.ts';
import { visibleContents, isForeignMessage } from '../prompt/visible-contents.ts';
import { answerInput } from './node-answer.ts';
import { nodeStartTransitions } from './node-starts.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { toolParked } from '../vocabulary/tool-call.ts';
import { START } from './workflow-definition.ts';
import { selectEdges } from './select-edges.ts';
import type { WorkflowDefinition, WorkflowNodeDefinition } from './workflow-definition.ts';
import { nodeDone, workflowBudget, workflowRun } from './workflow-places.ts';
import type { NodeDone, NodeReady } from './workflow-places.ts';
import type { WorkflowRulesOptions } from './workflow-definition.ts';

/** The transitions that connect the nodes of a workflow. The effects that run nodes are not included. */
export function workflowRules(options: WorkflowRulesOptions): readonly Transition[] {
  const { definition } = options;
  const canAsk = definition.nodes.some(({ kind }) => kind === 'function');
  return [
    beginTransition(options),
    ...definition.nodes.flatMap((node) => [
      ...nodeStartTransitions(node, options),
      routeTransition(node, definition),
    ]),
    ...(canAsk ? answerInput(options) : []),
    endTransition(options),
  ];
}

function beginTransition(options: WorkflowRulesOptions): Transition {
  const { definition, maxSteps, startPlace, multiAgent } = options;
  const { name, edges, nodes } = definition;
  const first = edges.filter(({ from }) => from === START);
  const identity = { agentName: name, multiAgent };
  return pure('agent.begin', {
    take: { start: startPlace },
    read: { conversation },
    unless: [turnStopping],
    reset: [workflowBudget, ...listJoinInputs(definition)],
    give: allOf({
      run: workflowRun,
      budget: upTo(maxSteps, workflowBudget),
      ...edgeOutputs(first, nodes),
    }),
    run: ({ start, conversation: lines }) => {
      const { invocationId, round, escalate, node } = start;
      const message = visibleContents(identity, lines).findLast(
        (line) => line.role === 'user' && !isForeignMessage(line),
      );
      const input: Json = message === undefined ? null : contentText(message);
      const ready: NodeReady = { input, trail: node?.path ?? name, heard: true };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return {
        run: {
          invocationId,
          round,
          runs: {},
          outputs: {},
          ...omitUndefined({ escalate: escalate === true ? escalate : undefined }),
        },
        budget: Array.from({ length: maxSteps }, () => null),
        ...activateEdges(first, nodes, ready, { path: ready.trail, output: input }),
      } as never;
    },
  });
}

/** The transition that follows the edges after a node. */
function routeTransition(
  { name }: WorkflowNodeDefinition,
  { edges, nodes }: WorkflowDefinition,
): Transition {
  const after = edges.filter(({ from }) => from === name);
  const { give, toValue } = routeOutputs(after, nodes);
  return pure(`node.route-${name}`, {
    take: { done: nodeDone(name), run: workflowRun },
    unless: [turnStopping],
    give,
    run: ({ done, run }) => {
      const { path: trail, output = null, route } = done;
      const taken = selectEdges(after, route);
      const outputs =
        taken.length === 0 && done.output !== undefined
          ? { ...run.outputs, [name]: done.output }
          : run.outputs;
      const ready: NodeReady = { input: output, trail };
      const next = {
        ...run,
        outputs,
        ...omitUndefined({ escalate: done.escalate === true ? true : undefined }),
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return toValue(taken, next, activateEdges(taken, nodes, ready, done)) as never;
    },
  });
}

/** The transition that ends the workflow when no node has work to do. */
function endTransition({ definition, endPlace, busy }: WorkflowRulesOptions): Transition {
  const joins = listJoinInputs(definition);
  const canAsk = definition.nodes.some(({ kind }) => kind === 'function');
  return pure('workflow.end', {
    take: {
      run: workflowRun,
      ...(Object.fromEntries(joins.map((place) => [place.name, all(place, { min: 0 })])) as Record<
        never,
        never
      >),
    },
    unless: [...busy, ...(canAsk ? [toolParked] : []), turnStopping],
    priority: -1,
    give: allOf({ ending: endPlace, events: upTo(1, eventOut) }),
    run: ({ run, ...joinTokens }) => {
      const { invocationId, round, outputs, escalate, stopReason = 'end_turn' } = run;
      const waiting = Object.entries<readonly NodeDone[]>(joinTokens);
      const stuck = waiting.flatMap(([name, tokens]) => (tokens.length > 0 ? [name] : []));
      const output = toWorkflowOutput(outputs);
      const message = `The workflow "${definition.name}" ended while a join still waited: it had ${stuck.join(', ')}, and other inputs did not arrive.`;
      return {
        ending: {
          stopReason,
          invocationId,
          round,
          ...omitUndefined({ escalate: escalate === true ? escalate : undefined, output }),
        },
        events:
          stuck.length === 0
            ? []
            : [
                {
                  type: 'error' as const,
                  invocationId,
                  /**
                   * A workflow ended while a join still waited for inputs.
                   * @remedy Connect every input of the join to a node that runs, or give it fewer inputs.
                   */
                  code: 'join_incomplete',
                  message,
                },
              ],
      };
    },
  });
}

/** The output of the last node; of several last nodes, their outputs by name. */
function toWorkflowOutput(outputs: JsonObject): Json | undefined {
  const values = Object.values(outputs);
  return values.length > 1 ? outputs : values[0];
}
