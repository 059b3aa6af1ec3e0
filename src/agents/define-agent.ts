import { InvalidInputError } from '../core/index.ts';
import type { GenerationConfig, Model } from '../models/index.ts';
import { compile, compose, initially } from '../net/index.ts';
import type { Migrate, Net } from '../net/index.ts';
import { indexTools } from '../tools/index.ts';
import type { Tool, Toolset } from '../tools/index.ts';
import type { Agent } from './agent.ts';
import { statusOf } from './agent-status.ts';
import { childAgentsOf } from './agent-tool.ts';
import type { ContextPolicy } from './context.ts';
import type { Instruction } from './instruction.ts';
import { modelStep } from './model-step.ts';
import { turnPermit, userIn } from './places.ts';
import { promptBuilder } from './prompt-builder.ts';
import { eventsOf } from './record-events.ts';
import { router } from './router.ts';
import { sessionWriter } from './session-writer.ts';
import { toolDispatch } from './tool-dispatch.ts';
import { turnControl } from './turn-control.ts';
import type { TrimOptions } from './trim-to-budget.ts';

/** The stock subnets of an agent, by name; each may be replaced by one with the same ports. */
export interface Subnets {
  readonly promptBuilder: Net;
  readonly modelStep: Net;
  readonly router: Net;
  readonly toolDispatch: Net;
  readonly turnControl: Net;
  readonly sessionWriter: Net;
}

export interface AgentDefinition {
  /** Letters, digits, `_` and `-`; names the agent in the log. */
  readonly name: string;
  readonly description?: string;
  readonly model: Model;
  /** A template, such as `Call them {user:name}.`, or a function. */
  readonly instruction?: Instruction;
  /** Told before `instruction`. */
  readonly globalInstruction?: Instruction;
  /** What it may call. A toolset is asked for its tools before every model call; whoever opened it closes it. */
  readonly tools?: readonly (Tool | Toolset)[];
  readonly config?: GenerationConfig;
  /** What the model is shown of a long conversation: a budget in tokens, or a function of your own. All of it unless said. */
  readonly context?: ContextPolicy | TrimOptions;
  /** How often the model may be asked again after tools, in one turn; 25 unless said. Then the turn ends with `budgetMessage`. */
  readonly reaskBudget?: number;
  readonly budgetMessage?: string;
  /** How often one model call is tried in all; 4 unless said. */
  readonly modelAttempts?: number;
  readonly modelTimeoutMs?: number;
  /** How many tools run at once; any number unless said. */
  readonly toolConcurrency?: number;
  /** Replaces stock subnets: gets them all, returns those to use instead. */
  readonly subnets?: (stock: Subnets) => Partial<Subnets>;
  /** More nets, joined by their ports: signals from outside, side work. */
  readonly extensions?: readonly Net[];
  /** Where the tokens of a live session go when this agent's places were renamed or removed. */
  readonly migrate?: Migrate;
}

const DEFAULT_REASK_BUDGET = 25;
const DEFAULT_MODEL_ATTEMPTS = 4;
const DEFAULT_MODEL_TIMEOUT_MS = 300_000;
const DEFAULT_BUDGET_MESSAGE =
  'I stopped here: this turn has used all the steps it may take. Say how to go on.';

/**
 * An agent: a net composed from the stock subnets, built and checked.
 * @throws InvalidInputError, DuplicateToolError, NetBuildError
 */
export function agent(definition: AgentDefinition): Agent {
  const { name, model, reaskBudget = DEFAULT_REASK_BUDGET } = definition;
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) || name === 'user') {
    throw new InvalidInputError(
      'name',
      `of an agent must be 1 to 64 letters, digits, _ or -, begin with a letter, and not be "user"; it is "${name}".`,
    );
  }
  if (!Number.isInteger(reaskBudget) || reaskBudget < 0 || reaskBudget > 1000) {
    throw new InvalidInputError(
      'reaskBudget',
      `must be a whole number from 0 to 1000; it is ${reaskBudget}.`,
    );
  }
  const tools = indexTools(definition.tools ?? []);
  const step = modelStep({
    model,
    get tools() {
      return [...tools.values()].map((tool) => tool.declaration);
    },
    attempts: definition.modelAttempts ?? DEFAULT_MODEL_ATTEMPTS,
    timeoutMs: definition.modelTimeoutMs ?? DEFAULT_MODEL_TIMEOUT_MS,
    ...(definition.instruction !== undefined && { instruction: definition.instruction }),
    ...(definition.globalInstruction !== undefined && {
      globalInstruction: definition.globalInstruction,
    }),
    ...(definition.config !== undefined && { config: definition.config }),
    ...(definition.context !== undefined && { context: definition.context }),
  });
  const dispatch = toolDispatch({
    agentName: name,
    tools,
    budgetMessage: definition.budgetMessage ?? DEFAULT_BUDGET_MESSAGE,
    ...(definition.toolConcurrency !== undefined && { concurrency: definition.toolConcurrency }),
  });
  const stock: Subnets = {
    promptBuilder: promptBuilder({ reaskBudget }),
    modelStep: step.subnet,
    router: router({ agentName: name, tools }),
    toolDispatch: dispatch.subnet,
    turnControl: turnControl({ agentName: name, ask: step.ask, run: dispatch.run }),
    sessionWriter: sessionWriter({ agentName: name }),
  };
  const subnets = { ...stock, ...definition.subnets?.(stock) };
  const net = compose(name, {
    in: { userIn },
    nets: [...Object.values(subnets), ...(definition.extensions ?? [])],
    initial: [initially(turnPermit, null)],
  });
  return {
    name,
    description: definition.description ?? '',
    net,
    compiled: compile(net),
    tools,
    children: childAgentsOf(tools.values()),
    migrate: definition.migrate,
    statusOf,
    eventsOf,
  };
}
