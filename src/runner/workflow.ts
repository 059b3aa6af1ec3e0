import { checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { workflow } from '../agents/workflow.ts';
import type { Agent } from '../agents/index.ts';
import type { ToolParameters } from '../tools/index.ts';
import { BaseAgent } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { Compilation } from './compilation.ts';
import { EdgeItems } from './edge-items.ts';
import type { EdgeItem } from './edge-items.ts';
import { flowOf } from './flow-of.ts';
import { stateCheck } from './state-schema.ts';
import { AgentNode } from './workflow-node.ts';

/** The graph of a workflow and its bounds. Sub-agents are not given here: they are the agents among its nodes. */
export interface WorkflowConfig extends Omit<BaseAgentConfig, 'subAgents'> {
  /** Chains of nodes, from `'START'` on: `['START', classify, { billing, support }]`. */
  readonly edges: readonly EdgeItem[];
  /** Judges what its nodes write to state. Keys with `app:`, `user:` and `temp:` are not judged. */
  readonly stateSchema?: ToolParameters;
  /** How many steps its nodes may take in one turn: one for each run, and one for each yield; 100 unless given. */
  readonly maxSteps?: number;
}

/** The options of `Workflow`. */
export const WORKFLOW_CONFIG: OptionTable = optionTable<WorkflowConfig>('Workflow', {
  name: true,
  description: true,
  inputSchema: true,
  beforeAgentCallback: true,
  afterAgentCallback: true,
  edges: true,
  stateSchema: true,
  maxSteps: true,
});

/**
 * Nodes and edges: functions, agents, tools, lists and joins, each beginning when one before it gives it something. It is
 * an agent like any other, and its net is proved like theirs.
 */
export class Workflow extends BaseAgent {
  readonly #items: EdgeItems;
  readonly #config: WorkflowConfig;

  /** @throws InvalidInputError */
  constructor(config: WorkflowConfig) {
    if (new.target === Workflow) checkOptions(WORKFLOW_CONFIG, config);
    const items = new EdgeItems(config.edges);
    const agents = items.nodes.flatMap((node) => (node instanceof AgentNode ? [node.agent] : []));
    super({ ...config, subAgents: agents });
    this.#items = items;
    this.#config = config;
  }

  /** @throws InvalidInputError, NetBuildError */
  override async compile(compilation: Compilation): Promise<Agent> {
    const { stateSchema, maxSteps } = this.#config;
    const nodes = [];
    for (const node of this.#items.nodes) nodes.push(await node.compileNode(compilation));
    return workflow({
      ...flowOf(this, this.config, compilation),
      nodes,
      edges: this.#items.edges,
      ...(maxSteps !== undefined && { maxSteps }),
      ...(stateSchema !== undefined && { checkState: stateCheck(stateSchema) }),
    });
  }
}
