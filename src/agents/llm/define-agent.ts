import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { GENERATION_NAMES } from '../../models/model/generation-names.ts';
import { compile, compose, initialToken, join } from '../../net/index.ts';
import type { Migrate, Net, TokenPlace } from '../../net/index.ts';
import { checkMaxResultCharacters } from '../../tools/tool/truncate-response.ts';
import { indexTools } from '../../tools/tool/index-tools.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import { CALLBACK_NAMES } from '../callbacks/callbacks.ts';
import { TRIM_OPTION_NAMES } from '../prompt/trim-options.ts';
import { hasAfterAgent, hasBeforeAgent } from '../callbacks/agent-callbacks.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { readStatus } from '../agent/read-status.ts';
import { collectChildAgents } from '../tools/agent-tool.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import { llmAgentParts } from './llm-agent-parts.ts';
import type { LlmSubnets, LlmDefinition } from './llm-agent-parts.ts';
import { llmSubnet } from './llm-subnet.ts';
import { userIn } from '../vocabulary/messages.ts';
import { turnPermit } from '../vocabulary/turn.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import { agentStarting } from '../vocabulary/handover.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { turnStart } from '../turn/turn-start.ts';
import { recordEvents } from '../turn/record-events.ts';
import { sessionWriter } from '../state/session-writer.ts';
import { turnControl } from '../turn/turn-control.ts';

/** The stock subnets of an agent, by name; each may be replaced by one with the same ports. */
export interface Subnets extends LlmSubnets {
  readonly turnStart: Net;
  readonly turnControl: Net;
  readonly sessionWriter: Net;
}

/** What an agent with a model is told, what it may call, and whom it may hand the turn to. */
export interface AgentDefinition extends LlmDefinition {
  /** What other agents' models are told of it; empty unless said. */
  readonly description?: string;
  /** What it may call. A toolset is asked for its tools before every model call; whoever opened it closes it. */
  readonly tools?: readonly (Tool | Toolset)[];
  /** How often the model may be asked again after tools, in one turn; 25 unless said. Then the turn ends with `budgetMessage`. */
  readonly reaskBudget?: number;
  /** Agents it may hand the turn to. They are part of its session, and hear what was said. */
  readonly subAgents?: readonly Agent[];
  /** Where it is a sub-agent: it may not hand the turn back to the agent above it. */
  readonly disallowTransferToParent?: boolean;
  /** Where it is a sub-agent: it may not hand the turn to the others beside it. */
  readonly disallowTransferToPeers?: boolean;
  /** How often the agents of a turn may hand it over; 10 unless said. The agent that the session begins with says it. */
  readonly maxTransfers?: number;
  /** Replaces stock subnets: gets them all, returns those to use instead. */
  readonly subnets?: (stock: Subnets) => Partial<Subnets>;
  /** More nets, joined by their ports: signals from outside, side work. */
  readonly extensions?: readonly Net[];
  /** Where the tokens of a live session go when this agent's places were renamed or removed. */
  readonly migrate?: Migrate;
}

/** The options of `agent`. */
export const AGENT_OPTIONS: OptionTable = optionTable<AgentDefinition>(
  'agent',
  {
    maxRetryAfterMs: true,
    name: true,
    model: true,
    fallbackModels: true,
    modelCoolDownMs: true,
    instruction: true,
    globalInstruction: true,
    config: GENERATION_NAMES,
    context: TRIM_OPTION_NAMES,
    budgetMessage: true,
    modelAttempts: true,
    modelTimeoutMs: true,
    maxModelCalls: true,
    toolConcurrency: true,
    maxResultCharacters: true,
    callbacks: CALLBACK_NAMES,
    outputKey: true,
    description: true,
    tools: true,
    reaskBudget: true,
    subAgents: true,
    disallowTransferToParent: true,
    disallowTransferToPeers: true,
    maxTransfers: true,
    subnets: true,
    extensions: true,
    migrate: true,
  },
  {
    generateContentConfig: 'config',
    thinkingConfig: 'thinking',
    responseMimeType: 'json',
    responseJsonSchema: 'responseSchema',
    toolConfig: 'toolChoice',
    instructions: 'instruction',
    systemPrompt: 'instruction',
    system: 'instruction',
    beforeAgentCallback: 'callbacks',
    afterAgentCallback: 'callbacks',
    beforeModelCallback: 'callbacks',
    afterModelCallback: 'callbacks',
    beforeToolCallback: 'callbacks',
    afterToolCallback: 'callbacks',
  },
);

const DEFAULT_REASK_BUDGET = 25;

/**
 * An agent: a net composed from the stock subnets, built and checked.
 * @throws InvalidInputError, DuplicateToolError, NetBuildError
 */
export function agent(definition: AgentDefinition): Agent {
  checkOptions(AGENT_OPTIONS, definition);
  const { name, reaskBudget = DEFAULT_REASK_BUDGET } = definition;
  checkAgentName(name);
  if (!Number.isInteger(reaskBudget) || reaskBudget < 0 || reaskBudget > 1000) {
    throw new InvalidInputError(
      'reaskBudget',
      `must be a whole number from 0 to 1000; it is ${reaskBudget}.`,
    );
  }
  checkMaxResultCharacters(definition.maxResultCharacters);
  const tools = indexTools(definition.tools ?? []);
  const role = toAgentRole(definition, tools, reaskBudget);
  if (role.subAgents.length > 0) return composeAgents(definition, role);
  const startPlace = hasBeforeAgent(definition.callbacks ?? {}) ? agentStarting : modelRequest;
  const parts = llmAgentParts({ definition, tools, from: startPlace, startPlace: modelRequest });
  const stock: Subnets = {
    turnStart: turnStart({ reaskBudget }),
    ...parts.stock,
    turnControl: turnControl({ resources: [parts.resources] }),
    sessionWriter: sessionWriter(),
  };
  const subnets = { ...stock, ...definition.subnets?.(stock) };
  const net = compose(name, {
    in: { userIn },
    nets: [
      withStartPlace(startPlace, subnets.turnStart),
      ...parts.netsWith(subnets),
      subnets.turnControl,
      subnets.sessionWriter,
      ...(definition.extensions ?? []),
    ],
    initial: [initialToken(turnPermit, null)],
  });
  return {
    name,
    description: definition.description ?? '',
    net,
    compiled: compile(net),
    tools,
    ...(definition.maxResultCharacters !== undefined && {
      maxResultCharacters: definition.maxResultCharacters,
    }),
    children: collectChildAgents(tools.values()),
    migrate: definition.migrate,
    readStatus,
    recordEvents,
    role,
  };
}

/** The agent as one of several. */
function toAgentRole(
  definition: AgentDefinition,
  tools: ReadonlyMap<string, Tool>,
  reaskBudget: number,
): AgentRole {
  const { subAgents = [], globalInstruction, outputKey, extensions = [] } = definition;
  return {
    kind: 'model',
    subAgents,
    tools,
    transfers: {
      toParent: definition.disallowTransferToParent !== true,
      toPeers: definition.disallowTransferToPeers !== true,
    },
    ...(globalInstruction !== undefined && { globalInstruction }),
    ...(outputKey !== undefined && { outputKey }),
    hasAfterAgent: hasAfterAgent(definition.callbacks ?? {}),
    extensions,
    childSlot: (_, slot) => slot,
    buildSubnet: (slot) =>
      llmSubnet(
        {
          definition,
          tools,
          reaskBudget,
          replaceSubnets: (own) => ({ ...own, ...replacedSubnets(definition, own) }),
        },
        slot,
      ),
  };
}

/** What an agent among others has in place of its stock subnets. @throws InvalidInputError for what is the session's */
function replacedSubnets(
  { name, subnets }: AgentDefinition,
  stock: LlmSubnets,
): Partial<LlmSubnets> {
  const sessionSubnets = {
    turnStart: turnStart({ reaskBudget: 0 }),
    turnControl: turnControl({ resources: [] }),
    sessionWriter: sessionWriter(),
  };
  const {
    turnStart: start,
    turnControl: control,
    sessionWriter: writer,
    ...replaced
  } = subnets?.({ ...stock, ...sessionSubnets }) ?? {};
  if (
    [undefined, sessionSubnets.turnStart].includes(start) &&
    [undefined, sessionSubnets.turnControl].includes(control) &&
    [undefined, sessionSubnets.sessionWriter].includes(writer)
  )
    return replaced;
  throw new InvalidInputError(
    'subnets',
    `of "${name}" may be modelStep, router and toolDispatch: the others are of a session of several agents.`,
  );
}

/** The prompt builder, its turns beginning there. */
function withStartPlace(place: TokenPlace<ModelCall>, start: Net): Net {
  if (place === modelRequest) return start;
  const joined = compose(start.name, { nets: [start], join: [join(place, modelRequest)] });
  const { modelRequest: _, ...out } = start.out;
  return { ...joined, in: start.in, out: { ...out, begins: place }, clusters: [] };
}
