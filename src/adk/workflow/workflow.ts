import { omitUndefined } from '../../core/internal.ts';
import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { type Agent, workflow } from '../../agents/index.ts';
import type { ToolParameters } from '../../tools/index.ts';
import { BaseAgent } from '../agents/base-agent.ts';
import type { BaseAgentConfig } from '../agents/base-agent.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import { ParsedEdges } from './parsed-edges.ts';
import type { EdgeItem } from './parsed-edges.ts';
import { toCompositeDefinition } from '../agents/to-composite-definition.ts';
import { createStateValidator } from './state-schema.ts';
import { AgentNode } from './workflow-node.ts';

/** Options of `Workflow`. Its sub-agents are the agents among its nodes. */
export interface WorkflowConfig extends Omit<BaseAgentConfig, 'subAgents'> {
  /** Chains of nodes, starting with `'START'`: `['START', classify, { billing, support }]`. */
  readonly edges: readonly EdgeItem[];
  /**
   * Schema of the state that the nodes may write. Keys with the prefixes `app:`, `user:` and `temp:` are not checked.
   */
  readonly stateSchema?: ToolParameters;
  /** Maximum number of steps of its nodes in one turn: each run and each yield is a step. Default: 100. */
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
 * Runs a graph of nodes: functions, agents, tools, parallel lists and joins. A node starts when a node before it passes
 * it an input. A workflow is an agent like any other, and its net is verified like theirs.
 */
export class Workflow extends BaseAgent {
  readonly #graph: ParsedEdges;
  readonly #config: WorkflowConfig;

  /** @throws InvalidInputError if the edges or options are invalid */
  constructor(config: WorkflowConfig) {
    if (new.target === Workflow) checkOptions(WORKFLOW_CONFIG_OPTIONS, config);
    const graph = new ParsedEdges(config.edges);
    const agents = graph.nodes.flatMap((node) => (node instanceof AgentNode ? [node.agent] : []));
    super({ ...config, subAgents: agents });
    this.#graph = graph;
    this.#config = config;
  }

  /**
   * @throws InvalidInputError if a node is invalid
   * @throws NetBuildError if the net cannot be built
   */
  override async compile(context: CompileContext): Promise<Agent> {
    const { stateSchema, maxSteps } = this.#config;
    const nodes = [];
    for (const node of this.#graph.nodes) nodes.push(await node.compileNode(context));
    return workflow({
      ...toCompositeDefinition(this, this.config, context),
      nodes,
      edges: this.#graph.edges,
      ...omitUndefined({
        maxSteps,
        checkState: stateSchema === undefined ? undefined : createStateValidator(stateSchema),
      }),
    });
  }
}
