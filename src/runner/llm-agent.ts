import { isJsonObject, checkOptions, optionTable } from '../core/index.ts';
import type { Content, Json, JsonObject, OptionTable } from '../core/index.ts';
import { contextPolicyOf } from '../agents/context.ts';
import { agent } from '../agents/index.ts';
import type { Agent, AgentDefinition, ContextInfo, ContextPolicy } from '../agents/index.ts';
import type { GenerationConfig, Model } from '../models/index.ts';
import { isToolset, jsonSchemaOf, RUN_CONFIG_KEY } from '../tools/index.ts';
import { codeExecutionTool } from '../tools/built-in/code-execution-tool.ts';
import type { CommandOptions } from '../tools/built-in/command-options.ts';
import type { Tool, ToolParameters, Toolset } from '../tools/index.ts';
import { GENERATION_NAMES } from '../models/generation-names.ts';
import type { AgentShape } from './agent-shape.ts';
import { aroundAll, wholeTextOf } from './around-model.ts';
import type { AroundModel } from './around-model.ts';
import { BASE_AGENT_NAMES, BaseAgent, compiled } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { BasePlanner } from './base-planner.ts';
import { BaseToolset } from './base-toolset.ts';
import type { AgentCallbacks, CalledTool } from './agent-callbacks.ts';
import type { Compilation } from './compilation.ts';
import type { CallbackContext } from './contexts.ts';
import type { ToolFilter, ToolUnion } from './base-toolset.ts';
import { instructionOf } from './instruction-provider.ts';
import type { InstructionProvider } from './instruction-provider.ts';
import { netCallbacks } from './net-callbacks.ts';
import { valueParser } from './value-parser.ts';

/**
 * How an agent with a model thinks and acts: its model, what it is told, its tools, and what becomes of its answer.
 * ADK's `LlmAgentConfig`.
 */
export interface LlmAgentConfig extends BaseAgentConfig, AgentCallbacks {
  /** A name such as `gemini-2.5-flash`, which the runner resolves, or a model. */
  readonly model: string | Model;
  /** Asked in their order when `model` fails. */
  readonly fallbackModels?: readonly (string | Model)[];
  /** A template over state and artifacts, such as `Call them {user:name}.`, or a function. */
  readonly instruction?: string | InstructionProvider;
  /** Told before `instruction`. */
  readonly globalInstruction?: string | InstructionProvider;
  readonly tools?: readonly ToolUnion[];
  /** Runs programs that the model writes, as the tool `code_execution`. */
  readonly codeExecutor?: CommandOptions;
  /** Makes the model plan before it acts. */
  readonly planner?: BasePlanner;
  /** The answer is JSON of this schema, and refused when it is not. */
  readonly outputSchema?: ToolParameters;
  /** State that keeps the last words, or with `outputSchema` the value. */
  readonly outputKey?: string;
  /** `none`: the model is shown this invocation only. */
  readonly includeContents?: 'default' | 'none';
  readonly generateContentConfig?: GenerationConfig;
  readonly disallowTransferToParent?: boolean;
  readonly disallowTransferToPeers?: boolean;
  /** How often the model may be asked again after tools, in one invocation; 25 unless said. */
  readonly reaskBudget?: number;
  /** How many of its tools run at once; any number unless said. */
  readonly toolConcurrency?: number;
  /** How many characters the result of a tool may have that does not say it itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
}

/** The options of `LlmAgent`. */
export const LLM_AGENT_OPTIONS: OptionTable = optionTable<LlmAgentConfig>(
  'LlmAgent',
  {
    ...BASE_AGENT_NAMES,
    model: true,
    fallbackModels: true,
    instruction: true,
    globalInstruction: true,
    tools: true,
    codeExecutor: true,
    planner: true,
    outputSchema: true,
    outputKey: true,
    includeContents: true,
    generateContentConfig: GENERATION_NAMES,
    disallowTransferToParent: true,
    disallowTransferToPeers: true,
    reaskBudget: true,
    toolConcurrency: true,
    maxResultCharacters: true,
    beforeModelCallback: true,
    afterModelCallback: true,
    onModelErrorCallback: true,
    beforeToolCallback: true,
    afterToolCallback: true,
    onToolErrorCallback: true,
  },
  {
    sub_agents: 'subAgents',
    agents: 'subAgents',
    input_schema: 'inputSchema',
    instructions: 'instruction',
    system: 'instruction',
    generationConfig: 'generateContentConfig',
    config: 'generateContentConfig',
    thinkingConfig: 'thinking',
    responseMimeType: 'json',
    responseJsonSchema: 'responseSchema',
    toolConfig: 'toolChoice',
  },
);

/** An agent with a model. */
export class LlmAgent extends BaseAgent {
  readonly model: string | Model;
  /** Its answers are JSON, of its output schema. */
  readonly givesJson: boolean;
  readonly #config: LlmAgentConfig;

  constructor(config: LlmAgentConfig) {
    // A subclass may have options of its own.
    if (new.target === LlmAgent) checkOptions(LLM_AGENT_OPTIONS, config);
    super(config);
    this.model = config.model;
    this.givesJson = config.outputSchema !== undefined;
    this.#config = config;
  }

  override async compile(compilation: Compilation): Promise<Agent> {
    const config = this.#config;
    const { name } = this;
    const executor = config.codeExecutor;
    const filters: AroundModel[] = [];
    const tools = [
      ...(await compiledTools(config.tools ?? [], compilation, filters)),
      ...(executor === undefined ? [] : [codeExecutionTool(executor)]),
    ];
    const output =
      config.outputSchema === undefined ? undefined : outputOf(name, config.outputSchema);
    const { globalInstructions, model, fallbackModels, ...shaped } = shapeOf(
      config,
      tools,
      compilation,
      output,
    );
    const fallbacks = await Promise.all((fallbackModels ?? []).map(compilation.modelOf));
    const named = new Map(
      (shaped.tools ?? [])
        .flatMap((one) => (isToolset(one) ? one.tools() : [one]))
        .map((one) => [one.name, one]),
    );
    return agent({
      ...shaped,
      model: await compilation.modelOf(model),
      ...(fallbacks.length > 0 && { fallbackModels: fallbacks }),
      description: this.description,
      ...(config.instruction !== undefined && {
        instruction: instructionOf(config.instruction, name, compilation.userContentOf),
      }),
      ...(globalInstructions !== undefined && {
        globalInstruction: globalInstructions.map((one) =>
          instructionOf(one, name, compilation.userContentOf),
        ),
      }),
      context: limitedTo(config, shaped.context),
      callbacks: netCallbacks(
        this,
        config,
        (called) => named.get(called) ?? { name: called, description: '' },
        compilation,
        aroundAll([
          ...(config.planner === undefined ? [] : [planning(config.planner)]),
          ...(output === undefined ? [] : [judging(output, config.outputKey)]),
          ...filters,
        ]),
      ),
      ...(config.outputKey !== undefined &&
        output === undefined && { outputKey: config.outputKey }),
      ...(config.reaskBudget !== undefined && { reaskBudget: config.reaskBudget }),
      ...(config.toolConcurrency !== undefined && { toolConcurrency: config.toolConcurrency }),
      ...(config.maxResultCharacters !== undefined && {
        maxResultCharacters: config.maxResultCharacters,
      }),
      subAgents: await compiled(this.subAgents, compilation),
      disallowTransferToParent: config.disallowTransferToParent ?? false,
      disallowTransferToPeers: config.disallowTransferToPeers ?? false,
    });
  }
}

/** The members that plugins may shape, shaped by each in its order. */
function shapeOf(
  config: LlmAgentConfig,
  tools: readonly (Tool | Toolset)[],
  { plugins }: Compilation,
  output: Output | undefined,
): AgentShape {
  const { name, model, globalInstruction, fallbackModels } = config;
  const generation =
    output === undefined
      ? config.generateContentConfig
      : { ...config.generateContentConfig, responseSchema: output.schema };
  return plugins.reduce<AgentShape>(
    (shape, plugin) => ({ ...shape, ...plugin.shapeAgent(shape) }),
    {
      name,
      model,
      tools,
      ...(fallbackModels !== undefined && { fallbackModels }),
      ...(globalInstruction !== undefined && { globalInstructions: [globalInstruction] }),
      ...(generation !== undefined && { config: generation }),
    },
  );
}

async function compiledTools(
  tools: readonly ToolUnion[],
  compilation: Compilation,
  filters: AroundModel[],
): Promise<readonly (Tool | Toolset)[]> {
  const made: (Tool | Toolset)[] = [];
  for (const one of tools) {
    if (one instanceof BaseToolset) {
      const opened = await compilation.open(one);
      made.push(opened);
      if (one.toolFilter !== undefined) filters.push(offering(opened, one.toolFilter));
    } else if ('compileTool' in one) made.push(await one.compileTool(compilation));
    else made.push(one);
  }
  return made;
}

/** Offers the tools of a set that its filter keeps, and refuses the others. */
function offering(set: Toolset, filter: ToolFilter): AroundModel {
  const names = new Set(set.tools().map((one) => one.name));
  const keeps = (one: CalledTool, context: CallbackContext): boolean =>
    !names.has(one.name) ||
    (typeof filter === 'function' ? filter(one, context) : filter.includes(one.name));
  return {
    before: ({ context, request }) => {
      request.tools = request.tools.filter((one) => keeps(one, context));
    },
    refuse: ({ context, tool: called }) =>
      keeps(called, context)
        ? undefined
        : { error: { code: 'not_found', message: `The tool "${called.name}" is not there now.` } },
  };
}

interface Output {
  readonly schema: JsonObject;
  readonly parse: (text: string) => Json;
}

function outputOf(agentName: string, outputSchema: ToolParameters): Output {
  const parse = valueParser(agentName, outputSchema);
  return {
    schema: jsonSchemaOf(outputSchema, agentName),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse gives nothing else
    parse: (text) => JSON.parse(JSON.stringify(parse(text))) as Json,
  };
}

/** Judges every whole answer, and keeps its value. */
function judging({ parse }: Output, outputKey: string | undefined): AroundModel {
  return {
    after: ({ context, response }) => {
      const text = wholeTextOf(response);
      if (text === undefined) return response;
      const value = parse(text);
      if (outputKey !== undefined) context.state.set(outputKey, value);
      return response;
    },
  };
}

/** Has the model plan. */
function planning(planner: BasePlanner): AroundModel {
  return {
    before: ({ context, request }) => {
      const told = planner.buildPlanningInstruction({ context, request });
      if (told !== undefined)
        request.instruction = [request.instruction ?? '', told].filter(Boolean).join('\n\n');
    },
    after: ({ context, response }) => {
      const { content } = response;
      const parts = planner.processPlanningResponse({ context, parts: content.parts });
      return parts === undefined ? response : { ...response, content: { ...content, parts } };
    },
  };
}

/** What the model is shown: as much as the run config and the agent say. */
function limitedTo(
  { includeContents = 'default' }: LlmAgentConfig,
  shown: AgentDefinition['context'],
): ContextPolicy {
  const policy = shown === undefined ? undefined : contextPolicyOf(shown);
  return async (contents, info) => {
    const recent = recentIn(info);
    const here = includeContents === 'none' ? fromLastMessage(contents, 0) : contents;
    const some = recent === undefined ? here : fromLastMessage(here, recent);
    return policy?.(some, info) ?? some;
  };
}

function recentIn({ state }: ContextInfo): number | undefined {
  const config = state[RUN_CONFIG_KEY];
  const { numRecentEvents } = isJsonObject(config) ? config : {};
  return typeof numRecentEvents === 'number' ? numRecentEvents : undefined;
}

/** The last message of the user and what came after it, and so many before it; never an answer of a tool without its call. */
export function fromLastMessage(contents: readonly Content[], before: number): readonly Content[] {
  const last = contents.findLastIndex(({ role }) => role === 'user');
  let from = Math.max(0, (last === -1 ? contents.length - 1 : last) - before);
  while (contents[from]?.role === 'tool') from++;
  return contents.slice(from);
}
