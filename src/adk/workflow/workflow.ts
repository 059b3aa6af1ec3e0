import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { workflow } from '../../agents/workflow/workflow.ts';
import type { Agent } from '../../agents/index.ts';
import type { ToolParameters } from '../../tools/index.ts';
import { BaseAgent } from '../agents/base-agent.ts';
import type { BaseAgentConfig } from '../agents/base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { ParsedEdges } from './parsed-edges.ts';
import type { EdgeItem } from './parsed-edges.ts';
import { toCompositeDefinition } from '../agents/to-composite-definition.ts';
import { createStateValidator } from './state-schema.ts';
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
export const WORKFLOW_CONFIG_OPTIONS: OptionTable = optionTable<WorkflowConfig>('Workflow', {
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
  readonly #graph: ParsedEdges;
  readonly #config: WorkflowConfig;

  /** @throws InvalidInputError */
  constructor(config: WorkflowConfig) {
    if (new.target === Workflow) checkOptions(WORKFLOW_CONFIG_OPTIONS, config);
    const graph = new ParsedEdges(config.edges);
    const agents = graph.nodes.flatMap((node) => (node instanceof AgentNode ? [node.agent] : []));
    super({ ...config, subAgents: agents });
    this.#graph = graph;
    this.#config = config;
  }

  /** @throws InvalidInputError, NetBuildError */
  override async compile(context: CompileContext): Promise<Agent> {
    const { stateSchema, maxSteps } = this.#config;
    const nodes = [];
    for (const node of this.#graph.nodes) nodes.push(await node.compileNode(context));
    return workflow({
      ...toCompositeDefinition(this, this.config, context),
      nodes,
      edges: this.#graph.edges,
      ...(maxSteps !== undefined && { maxSteps }),
      ...(stateSchema !== undefined && { checkState: createStateValidator(stateSchema) }),
    });
  }
}
