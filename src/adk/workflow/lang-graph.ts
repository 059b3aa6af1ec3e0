import { START } from '../../agents/workflow/workflow-definition.ts';
import type { NodeContext } from '../../agents/workflow/node-context.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { EdgeItem } from './parsed-edges.ts';
import { Event } from '../agents/event.ts';
import { node } from './node.ts';
import type { BaseNode } from './workflow-node.ts';

/** A node as ADK-TS writes it. */
export interface LangGraphNode {
  readonly name: string;
  readonly agent: BaseAgent;
  /** The nodes after it, by name; none when it is a last one. */
  readonly targets?: readonly string[];
  /** Whether it has its turn now; it has, unless said. */
  readonly condition?: (context: NodeContext, input: Json) => boolean | Promise<boolean>;
}

/** Such nodes as the edges of a workflow: a condition is a node of its own before the agent. @throws InvalidInputError */
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
      throw new InvalidInputError('nodes', `have none called "${name}", which is a target.`);
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
