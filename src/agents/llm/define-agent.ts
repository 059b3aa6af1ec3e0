import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import { InvalidInputError, normalizeStateKey } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { GENERATION_NAMES, NamedModel } from '../../models/internal.ts';
import type { Model, ModelRef } from '../../models/index.ts';
import { compile, compose, initialToken, join } from '../../net/index.ts';
import type { Migrate, Net, TokenPlace } from '../../net/index.ts';
import { checkMaxResultCharacters, indexTools } from '../../tools/internal.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import { DEFAULT_REASK_BUDGET } from './agent-defaults.ts';
import { CALLBACK_NAMES } from '../callbacks/callbacks.ts';
import { TRIM_OPTION_NAMES } from '../prompt/trim-options.ts';
import { hasAfterAgent, hasBeforeAgent } from '../callbacks/agent-callbacks.ts';
import { checkAgentDefinition } from './check-agent-definition.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { readStatus } from '../agent/read-status.ts';
import { collectChildAgents } from '../tools/agent-tool.ts';
import { composeAgents, initialPromptFormat } from '../composition/compose-agents.ts';
import { llmAgentParts } from './llm-agent-parts.ts';
import type { LlmSubnets, LlmDefinition, ModelPort } from './llm-agent-parts.ts';
import { llmSubnet } from './llm-subnet.ts';
import { userIn } from '../vocabulary/messages.ts';
import { turnEnding, turnPermit } from '../vocabulary/turn.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import { agentStarting } from '../vocabulary/handover.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { OUTCOMES_NAMES, toGrader } from '../outcomes/outcomes-option.ts';
import type { OutcomesOption } from '../outcomes/outcomes-option.ts';
import { outcomeRounds } from '../outcomes/outcome-rounds.ts';
import { toModel } from '../vocabulary/to-model.ts';
import { turnStart } from '../turn/turn-start.ts';
import { createRecordEvents } from '../composition/agent-runs.ts';
import { sessionWriter } from '../state/session-writer.ts';
import { appendedEvents } from '../session/appended-events.ts';
import { failedTurnRetry } from '../session/failed-turn-retry.ts';
import { sessionControl } from '../session/session-control.ts';
import { toExtension } from '../turn/extension.ts';
import type { Extension } from '../turn/extension.ts';
import { turnControl } from '../turn/turn-control.ts';

/** The stock subnets of an agent. Each can be replaced by a subnet with the same ports. */
export interface Subnets extends LlmSubnets {
  readonly turnStart: Net;
  readonly turnControl: Net;
  readonly sessionWriter: Net;
}

/** The definition of an agent with a model. */
export interface AgentDefinition extends Omit<LlmDefinition, 'model' | 'fallbackModels'> {
  /**
   * A model, or a reference that the runtime resolves: a name such as `gpt-5`, or `{ provider, model }`. See the option
   * `models` of `openRuntime`.
   */
  readonly model: Model | ModelRef;
  /** Used in order when `model` fails after all its attempts. A model that failed is skipped for `modelCoolDownMs`. */
  readonly fallbackModels?: readonly (Model | ModelRef)[];
  /** The tools it may call. A toolset is queried before every model call. It is not closed: close it where it was opened. */
  readonly tools?: readonly (Tool | Toolset)[];
  /**
   * How often the model may be called again after tools in one turn, from 0 to 1,000. When it is used up, the turn ends
   * with `budgetMessage`. Default: 25.
   */
  readonly reaskBudget?: number;
  /** Agents it may transfer the turn to. They run in the same session and see its conversation. */
  readonly subAgents?: readonly Agent[];
  /** The most transfers of one turn. Only the value of the session's first agent counts. Default: 10. */
  readonly maxTransfers?: number;
  /**
   * Replaces stock subnets. It gets all of them, with the places where the agent asks its model, and returns the ones to
   * use instead.
   */
  readonly subnets?: (stock: Subnets, port: ModelPort) => Partial<Subnets>;
  /** More nets, joined by their ports, for example for signals from outside or for side work. */
  readonly extensions?: readonly (Net | Extension)[];
  /**
   * Adds outcome rounds: `session.defineOutcome` sets a goal, and the agent revises its work until a grader is satisfied.
   * Default of the grader: the agent's own model. Only the option of the session's first agent counts. Default: none.
   */
  readonly outcomes?: OutcomesOption;
  /** Where the tokens of a live session go when an upgrade renames or removes places of this agent. */
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
    leadingInstruction: true,
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
    identity: true,
    tools: true,
    reaskBudget: true,
    subAgents: true,
    disallowTransferToParent: true,
    disallowTransferToPeers: true,
    maxTransfers: true,
    subnets: true,
    extensions: true,
    outcomes: OUTCOMES_NAMES,
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

/**
 * Creates an agent with a model: a net composed from the stock subnets, compiled and checked.
 * @throws InvalidInputError, UnknownFieldError, UnknownModelError, DuplicateToolError, NetBuildError
 */
export function agent(options: AgentDefinition): Agent {
  checkDefinition(AGENT_OPTIONS, options);
  checkAgentDefinition(options);
  const definition = toResolvableDefinition(options);
  const { name, reaskBudget = DEFAULT_REASK_BUDGET } = definition;
  if (!Number.isInteger(reaskBudget) || reaskBudget < 0 || reaskBudget > 1000) {
    throw new InvalidInputError(
      'reaskBudget',
      `must be a whole number from 0 to 1000; it is ${reaskBudget}.`,
    );
  }
  checkMaxResultCharacters(definition.maxResultCharacters);
  const tools = indexTools(definition.tools ?? []);
  const { outcomes } = definition;
  const grader = outcomes === undefined ? undefined : toGrader(name, outcomes, definition.model);
  const role = toAgentRole(definition, tools, reaskBudget, grader);
  if (role.subAgents.length > 0)
    return composeAgents(
      { ...definition, ...omitUndefined({ outcomes: grader && { grader } }) },
      role,
    );
  const startPlace = hasBeforeAgent(definition.callbacks ?? {}) ? agentStarting : modelRequest;
  const parts = llmAgentParts({ definition, tools, from: startPlace, startPlace: modelRequest });
  const extensions = [
    ...(grader === undefined
      ? []
      : [
          outcomeRounds({
            agentName: name,
            grader,
            revision: { place: modelRequest, reaskBudget },
          }),
        ]),
    ...role.extensions.map(toExtension),
  ];
  const stock: Subnets = {
    turnStart: turnStart({ reaskBudget }),
    ...parts.stock,
    turnControl: turnControl({ resources: [parts.resources], extensions }),
    sessionWriter: sessionWriter(),
  };
  const subnets = { ...stock, ...definition.subnets?.(stock, parts.port) };
  if (subnets.transferRouter !== undefined)
    throw new InvalidInputError(
      'subnets',
      `of "${name}" replaces the transferRouter, but the agent has no agents to transfer the turn to.`,
    );
  const net = compose(name, {
    in: { userIn },
    nets: [
      withStartPlace(startPlace, subnets.turnStart),
      ...parts.netsWith(subnets),
      subnets.turnControl,
      subnets.sessionWriter,
      sessionControl(),
      appendedEvents(),
      failedTurnRetry({ reaskBudget }),
      ...extensions.map((extension) => extension.net),
    ],
    initial: [initialToken(turnPermit, null), ...initialPromptFormat([{ name, role }])],
  });
  return {
    name,
    description: definition.description ?? '',
    net,
    compiled: compile(net),
    tools,
    ...omitUndefined({ maxResultCharacters: definition.maxResultCharacters }),
    children: collectChildAgents(tools.values()),
    migrate: definition.migrate,
    readStatus,
    recordEvents: createRecordEvents([{ name, role, done: turnEnding.name }]),
    role,
    extend: ({ extensions: added = [], outcomes: more = options.outcomes }) =>
      agent({
        ...options,
        extensions: [...(options.extensions ?? []), ...added],
        ...omitUndefined({ outcomes: more }),
      }),
  };
}

/** A definition whose references to models are models, and whose output key is in normal form. */
type ResolvableDefinition = Omit<AgentDefinition, 'model' | 'fallbackModels'> & LlmDefinition;

function toResolvableDefinition({
  model,
  fallbackModels,
  outputKey,
  ...rest
}: AgentDefinition): ResolvableDefinition {
  return {
    ...rest,
    model: toModel(rest.name, model),
    ...omitUndefined({
      fallbackModels: fallbackModels?.map((one) => toModel(rest.name, one)),
      outputKey: outputKey === undefined ? undefined : normalizeStateKey(outputKey),
    }),
  };
}

/** The role of the agent in a session of several agents. */
function toAgentRole(
  definition: ResolvableDefinition,
  tools: ReadonlyMap<string, Tool>,
  reaskBudget: number,
  grader: Model | undefined,
): AgentRole {
  const { subAgents = [], globalInstruction, outputKey, extensions = [], instruction } = definition;
  const models = [definition.model, ...(definition.fallbackModels ?? [])];
  return {
    kind: 'model',
    subAgents,
    tools,
    models: models.map(({ name }) => name),
    namedModels: [...models, grader].filter((model) => model instanceof NamedModel),
    transfers: {
      toParent: definition.disallowTransferToParent !== true,
      toPeers: definition.disallowTransferToPeers !== true,
    },
    ...omitUndefined({
      globalInstruction,
      outputKey,
      instructionText: typeof instruction === 'string' ? instruction : undefined,
    }),
    hasAfterAgent: hasAfterAgent(definition.callbacks ?? {}),
    ...omitUndefined({ identity: definition.identity }),
    extensions,
    childSlot: (_, slot) => slot,
    buildSubnet: (slot) =>
      llmSubnet(
        {
          definition,
          tools,
          reaskBudget,
          replaceSubnets: (stock, port) => ({
            ...stock,
            ...replacedSubnets(definition, stock, port),
          }),
        },
        slot,
      ),
  };
}

/**
 * The subnets that the definition replaces, for an agent in a session of several.
 * @throws InvalidInputError when it replaces a subnet that belongs to the session: turnStart, turnControl, sessionWriter
 */
function replacedSubnets(
  { name, subnets }: Pick<AgentDefinition, 'name' | 'subnets'>,
  stock: LlmSubnets,
  port: ModelPort,
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
  } = subnets?.({ ...stock, ...sessionSubnets }, port) ?? {};
  if (
    [undefined, sessionSubnets.turnStart].includes(start) &&
    [undefined, sessionSubnets.turnControl].includes(control) &&
    [undefined, sessionSubnets.sessionWriter].includes(writer)
  )
    return replaced;
  throw new InvalidInputError(
    'subnets',
    `of "${name}" may replace modelStep, router, toolDispatch and transferRouter only: the others are shared in a session of several agents.`,
  );
}

/** The turn start, with its start token in this place instead of `model.request`. */
function withStartPlace(place: TokenPlace<ModelCall>, start: Net): Net {
  if (place === modelRequest) return start;
  const joined = compose(start.name, { nets: [start], join: [join(place, modelRequest)] });
  const { modelRequest: _, ...out } = start.out;
  return { ...joined, in: start.in, out: { ...out, begins: place }, clusters: [] };
}
