import { textOf } from '../core/index.ts';
import type { Json, JsonObject } from '../core/index.ts';
import { all, allOf, pure, upTo } from '../net/index.ts';
import type { Transition } from '../net/index.ts';
import { given, joinInputsOf, readyOutputs } from './edge-outputs.ts';
import { heardBy, isTold } from './heard-by.ts';
import { answer } from './node-answer.ts';
import { startsOf } from './node-starts.ts';
import { conversation, eventOut, toolParked, turnStopping } from './places.ts';
import { START, takenEdges } from './workflow-definition.ts';
import type { WorkflowDefinition, WorkflowNode } from './workflow-definition.ts';
import { nodeDone, workflowBudget, workflowRun } from './workflow-places.ts';
import type { NodeDone, NodeReady } from './workflow-places.ts';
import type { WorkflowRulesOptions } from './workflow-rules-options.ts';

/** How the nodes of a workflow come after each other: everything but what they do. */
export function workflowRules(options: WorkflowRulesOptions): readonly Transition[] {
  const { definition } = options;
  const asks = definition.nodes.some(({ kind }) => kind === 'function');
  return [
    begin(options),
    ...definition.nodes.flatMap((node) => [...startsOf(node, options), routeOf(node, definition)]),
    ...(asks ? [answer(options)] : []),
    end(options),
  ];
}

function begin(options: WorkflowRulesOptions): Transition {
  const { definition, maxSteps, begins, among } = options;
  const { name, edges, nodes } = definition;
  const first = edges.filter(({ from }) => from === START);
  const speaking = { agentName: name, among };
  return pure('agent.begin', {
    take: { start: begins },
    read: { conversation },
    unless: [turnStopping],
    reset: [workflowBudget, ...joinInputsOf(definition)],
    give: allOf({
      run: workflowRun,
      budget: upTo(maxSteps, workflowBudget),
      ...readyOutputs(first, nodes),
    }),
    run: ({ start, conversation: lines }) => {
      const { invocationId, round, escalate, node } = start;
      const heard = heardBy(speaking, lines).findLast(
        (line) => line.role === 'user' && !isTold(line),
      );
      const input: Json = heard === undefined ? null : textOf(heard);
      const ready: NodeReady = { input, trail: node?.path ?? name, heard: true };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return {
        run: {
          invocationId,
          round,
          runs: {},
          outputs: {},
          ...(escalate === true && { escalate }),
        },
        budget: Array.from({ length: maxSteps }, () => null),
        ...given(first, nodes, START, ready, { path: ready.trail, output: input }),
      } as never;
    },
  });
}

/** What comes after a node. */
function routeOf({ name }: WorkflowNode, { edges, nodes }: WorkflowDefinition): Transition {
  const after = edges.filter(({ from }) => from === name);
  return pure(`node.route-${name}`, {
    take: { done: nodeDone(name), run: workflowRun },
    unless: [turnStopping],
    give: allOf({ run: workflowRun, ...readyOutputs(after, nodes) }),
    run: ({ done, run }) => {
      const { path: trail, output = null, route } = done;
      const taken = takenEdges(after, route);
      const outputs =
        taken.length === 0 && done.output !== undefined
          ? { ...run.outputs, [name]: done.output }
          : run.outputs;
      const ready: NodeReady = { input: output, trail };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outputs are those of the nodes, and no type can name them
      return {
        run: { ...run, outputs, ...(done.escalate === true && { escalate: true }) },
        ...given(taken, nodes, name, ready, done),
      } as never;
    },
  });
}

/** The workflow is done when no node has anything to do. */
function end({ definition, ends, busy }: WorkflowRulesOptions): Transition {
  const joins = joinInputsOf(definition);
  const asks = definition.nodes.some(({ kind }) => kind === 'function');
  return pure('workflow.end', {
    take: {
      run: workflowRun,
      ...(Object.fromEntries(joins.map((place) => [place.name, all(place, { min: 0 })])) as Record<
        never,
        never
      >),
    },
    unless: [...busy, ...(asks ? [toolParked] : []), turnStopping],
    priority: -1,
    give: allOf({ ending: ends, events: upTo(1, eventOut) }),
    run: ({ run, ...left }) => {
      const { invocationId, round, outputs, escalate, stopReason = 'end_turn' } = run;
      const waiting = Object.entries<readonly NodeDone[]>(left);
      const stuck = waiting.flatMap(([name, tokens]) => (tokens.length > 0 ? [name] : []));
      const output = outputOf(outputs);
      const message = `The workflow "${definition.name}" ended while a join still waited: ${stuck.join(', ')} came, and others did not.`;
      return {
        ending: {
          stopReason,
          invocationId,
          round,
          ...(escalate === true && { escalate }),
          ...(output !== undefined && { output }),
        },
        events:
          stuck.length === 0
            ? []
            : [{ type: 'error' as const, invocationId, code: 'join_incomplete', message }],
      };
    },
  });
}

/** What the last node gave; of several, all by their names. */
function outputOf(outputs: JsonObject): Json | undefined {
  const values = Object.values(outputs);
  return values.length > 1 ? outputs : values[0];
}
