import { START, type NodeContext } from '../../agents/index.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { EdgeItem } from './parsed-edges.ts';
import { Event } from '../agents/event.ts';
import { node } from './node.ts';
import type { BaseNode } from './workflow-node.ts';

/** A node in the form that ADK-TS uses. */
export interface LangGraphNode {
  readonly name: string;
  readonly agent: BaseAgent;
  /** Names of the next nodes. Default: none; the node is an end node. */
  readonly targets?: readonly string[];
  /** Whether the node runs. Default: it always runs. */
  readonly condition?: (context: NodeContext, input: Json) => boolean | Promise<boolean>;
}

/**
 * Converts such nodes to the edges of a workflow. A condition becomes a node before the agent.
 * @throws InvalidInputError if a target names no node
 */
export function langGraphEdges(
  nodes: readonly LangGraphNode[],
  startNode: string,
): readonly EdgeItem[] {
  const gates = new Map<string, BaseNode>();
  for (const { name, condition } of nodes) {
    if (condition === undefined) continue;
    const gate = async (context: NodeContext, input: Json): Promise<unknown> =>
      (await condition(context, input)) ? Event({ output: input, route: true }) : undefined;
    gates.set(name, node(gate, { name: `${name}_if` }));
  }
  const entry = (name: string): BaseNode | BaseAgent => {
    const found = nodes.find((one) => one.name === name);
    if (found === undefined)
      throw new InvalidInputError('nodes', `contain no node "${name}", which is a target.`);
    return gates.get(name) ?? found.agent;
  };
  return [
    [START, entry(startNode)],
    ...nodes.flatMap(({ name, agent, targets = [] }): readonly EdgeItem[] => {
      const gate = gates.get(name);
      return [
        ...(gate === undefined ? [] : [[gate, { true: agent }] as const]),
        ...targets.map((target) => [agent, entry(target)] as const),
      ];
    }),
  ];
}
