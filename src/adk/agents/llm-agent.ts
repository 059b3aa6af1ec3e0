import { omitUndefined } from '../../core/internal.ts';
import { checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { agent } from '../../agents/index.ts';
import type { Agent, Instruction } from '../../agents/index.ts';
import type { GenerationConfig, Model } from '../../models/index.ts';
import { isToolset, providerTool } from '../../tools/index.ts';
import { codeExecutionTool } from '../../tools/built-in/commands/code-execution-tool.ts';
import type { CommandOptions } from '../../tools/built-in/index.ts';
import type { Tool, ToolParameters, Toolset } from '../../tools/index.ts';
import type { LiveConfig, LiveModel } from '../../live/index.ts';
import { liveTextModel } from '../../live/internal.ts';
import { createLiveTools, TASK_COMPLETED_INSTRUCTION } from '../tools/live-tools.ts';
import { isLiveModel } from '../live/resolve-live-model.ts';
import { GENERATION_NAMES } from '../../models/internal.ts';
import type { LlmAgentSettings } from '../plugins/base-plugin.ts';
import { composeModelMiddleware } from '../contracts/model-middleware.ts';
import type { ModelMiddleware } from '../contracts/model-middleware.ts';
import { BASE_AGENT_NAMES, BaseAgent, compileAgents } from './base-agent.ts';
import type { BaseAgentConfig } from './base-agent.ts';
import type { BasePlanner } from './base-planner.ts';
import { BaseToolset } from '../tools/base-toolset.ts';
import { fromGeminiSchema } from '../tools/gemini-schema.ts';
import type { GeminiSchema } from '../tools/gemini-schema.ts';
import { BuiltInCodeExecutor } from '../tools/provider-tools.ts';
import type { AgentCallbacks } from '../contracts/agent-callbacks.ts';
import type { CompileContext } from '../tools/compile-context.ts';
import type { ToolUnion } from '../tools/base-toolset.ts';
import { toInstruction } from '../contracts/instruction-provider.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';
import { toNetCallbacks } from './to-net-callbacks.ts';
import { createContextPolicy } from './llm-context-policy.ts';
import {
  toolFilterMiddleware,
  toOutputFormat,
  outputMiddleware,
  plannerMiddleware,
} from './llm-agent-middleware.ts';
import type { OutputFormat } from './llm-agent-middleware.ts';

/** Options of `LlmAgent`. ADK's `LlmAgentConfig`. */
export interface LlmAgentConfig extends BaseAgentConfig, AgentCallbacks {
  /**
   * A model, or a name such as `gemini-2.5-flash` that the runner resolves. With a live model, such as
   * `gemini-live-2.5-flash`, one can speak with the agent: `runner.runLive`. Text turns then use it too.
   */
  readonly model: string | Model | LiveModel;
  /** The live model, if `model` is for text turns only. Default: `model`, if it is a live model. */
  readonly liveModel?: string | LiveModel;
  /** Options of live sessions. They win over those of the run config. */
  readonly liveConfig?: LiveConfig;
  /** Called in this order when `model` fails. */
  readonly fallbackModels?: readonly (string | Model)[];
  /** A template over state and artifacts, such as `Call them {user:name}.`, or a function. */
  readonly instruction?: string | InstructionProvider;
  /** Placed before `instruction`. */
  readonly globalInstruction?: string | InstructionProvider;
  readonly tools?: readonly ToolUnion[];
  /** Runs programs that the model writes: here, as the tool `code_execution`, or at Gemini. */
  readonly codeExecutor?: CommandOptions | BuiltInCodeExecutor;
  /** Makes the model plan before it acts. */
  readonly planner?: BasePlanner;
  /** The answer must be JSON of this schema; any other answer fails. */
  readonly outputSchema?: ToolParameters | GeminiSchema;
  /** State key that receives the final text, or with `outputSchema` the parsed value. */
  readonly outputKey?: string;
  /**
   * `none`: the model sees only the current invocation. Default: `default`, and `none` for a node of a workflow, which sees
   * its input.
   */
  readonly includeContents?: 'default' | 'none';
  readonly generateContentConfig?: GenerationConfig;
  /**
   * Its prompts state its name, its description and the agents it may transfer to, as in ADK. A session keeps the choice
   * with which it was created. Default: true.
   */
  readonly identity?: boolean;
  readonly disallowTransferToParent?: boolean;
  readonly disallowTransferToPeers?: boolean;
  /** Maximum number of further model calls after tool results in one invocation. Default: 25. */
  readonly reaskBudget?: number;
  /** Maximum number of tools that run at the same time. Default: no limit. */
  readonly toolConcurrency?: number;
  /** Maximum number of characters of a tool result, for tools that do not set their own limit. Default: 100,000. */
  readonly maxResultCharacters?: number;
}

/** The options of `LlmAgent`. */
export const LLM_AGENT_OPTIONS: OptionTable = optionTable<LlmAgentConfig>(
  'LlmAgent',
  {
    ...BASE_AGENT_NAMES,
    model: true,
    liveModel: true,
    liveConfig: true,
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
    identity: true,
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
  readonly model: string | Model | LiveModel;
  readonly instruction: LlmAgentConfig['instruction'];
  readonly tools: readonly ToolUnion[];
  readonly outputKey: string | undefined;
  /** True if the agent has an output schema, so its answers are JSON. */
  readonly returnsJson: boolean;
  readonly #config: LlmAgentConfig;

  constructor(config: LlmAgentConfig) {
    // A subclass may have additional options.
    if (new.target === LlmAgent) checkOptions(LLM_AGENT_OPTIONS, config);
    super(config);
    this.model = config.model;
    this.instruction = config.instruction;
    this.tools = config.tools ?? [];
    this.outputKey = config.outputKey;
    this.returnsJson = config.outputSchema !== undefined;
    this.#config = config;
  }

  override async compile(context: CompileContext): Promise<Agent> {
    const { isWorkflowNode = false, ...compileContext } = context;
    const config = this.#config;
    const { name } = this;
    const executor = config.codeExecutor;
    const toolMiddleware: ModelMiddleware[] = [];
    const stage = compileContext.isLiveStage === true;
    const ownContext = { ...compileContext, isLiveStage: false };
    const tools = [
      ...(await compileTools(config, compileContext, toolMiddleware)),
      ...(executor === undefined ? [] : [toCodeTool(executor)]),
    ];
    const live = findLiveModel(config, compileContext);
    if (live !== undefined) tools.push(...createLiveTools(tools, stage));
    const output =
      config.outputSchema === undefined
        ? undefined
        : toOutputFormat(name, fromGeminiSchema(config.outputSchema));
    const { leadingInstructions, globalInstructions, model, fallbackModels, ...settings } =
      applyPluginSettings(config, tools, compileContext, output);
    const toAgentInstruction = (one: string | InstructionProvider): Instruction =>
      toInstruction(one, name, compileContext.findUserContent);
    const fallbacks = await Promise.all((fallbackModels ?? []).map(compileContext.resolveModel));
    const toolsByName = new Map(
      (settings.tools ?? [])
        .flatMap((one) => (isToolset(one) ? one.tools() : [one]))
        .map((one) => [one.name, one]),
    );
    return agent({
      ...settings,
      ...(live !== undefined &&
        compileContext.live.add(name, {
          model: live,
          ...omitUndefined({
            config: config.liveConfig,
            instruction: stage ? TASK_COMPLETED_INSTRUCTION : undefined,
            reaskBudget: config.reaskBudget,
          }),
        })),
      model: await resolveTextModel(model, live, compileContext),
      ...omitUndefined({ fallbackModels: fallbacks.length > 0 ? fallbacks : undefined }),
      description: this.description,
      ...omitUndefined({
        instruction:
          config.instruction === undefined ? undefined : toAgentInstruction(config.instruction),
        leadingInstruction: leadingInstructions?.map(toAgentInstruction),
        globalInstruction: globalInstructions?.map(toAgentInstruction),
      }),
      context: createContextPolicy(
        config.includeContents ?? (isWorkflowNode ? 'none' : 'default'),
        settings.context,
      ),
      callbacks: toNetCallbacks(
        this,
        config,
        (toolName) => toolsByName.get(toolName) ?? { name: toolName, description: '' },
        compileContext,
        composeModelMiddleware([
          ...(config.planner === undefined ? [] : [plannerMiddleware(config.planner)]),
          ...(output === undefined ? [] : [outputMiddleware(output, config.outputKey)]),
          ...toolMiddleware,
        ]),
      ),
      ...omitUndefined({
        outputKey:
          config.outputKey !== undefined && output === undefined ? config.outputKey : undefined,
        reaskBudget: config.reaskBudget,
        toolConcurrency: config.toolConcurrency,
        maxResultCharacters: config.maxResultCharacters,
      }),
      subAgents: await compileAgents(this.subAgents, ownContext),
      identity: config.identity ?? true,
      // As in ADK: an agent that answers with a schema does not transfer the turn.
      disallowTransferToParent: output !== undefined || (config.disallowTransferToParent ?? false),
      disallowTransferToPeers: output !== undefined || (config.disallowTransferToPeers ?? false),
    });
  }
}

function toCodeTool(executor: CommandOptions | BuiltInCodeExecutor): Tool {
  return executor instanceof BuiltInCodeExecutor
    ? providerTool({ id: 'google.code_execution' })
    : codeExecutionTool(executor);
}

/** The live model of an agent, if it has one. */
function findLiveModel(
  { model, liveModel }: LlmAgentConfig,
  { resolveLiveModel }: CompileContext,
): LiveModel | undefined {
  const live = liveModel ?? model;
  if (typeof live === 'string') return resolveLiveModel(live);
  return isLiveModel(live) ? live : undefined;
}

/** The model of text turns. A live model answers them over a connection for each answer. */
async function resolveTextModel(
  model: string | Model,
  live: LiveModel | undefined,
  { resolveModel, resolveLiveModel }: CompileContext,
): Promise<Model> {
  if (typeof model !== 'string') return model;
  const isLive = live !== undefined && resolveLiveModel(model) !== undefined;
  return isLive ? liveTextModel(live) : resolveModel(model);
}

/** Lets each plugin, in order, change the settings that plugins may change. */
function applyPluginSettings(
  config: LlmAgentConfig,
  tools: readonly (Tool | Toolset)[],
  { plugins }: CompileContext,
  output: OutputFormat | undefined,
): LlmAgentSettings {
  const { name, model, globalInstruction, fallbackModels } = config;
  const generation =
    output === undefined
      ? config.generateContentConfig
      : { ...config.generateContentConfig, responseSchema: output.schema };
  return plugins.reduce<LlmAgentSettings>(
    (settings, plugin) => ({ ...settings, ...plugin.configureAgent(settings) }),
    {
      name,
      model: typeof model !== 'string' && isLiveModel(model) ? liveTextModel(model) : model,
      tools,
      ...omitUndefined({
        fallbackModels,
        globalInstructions: globalInstruction === undefined ? undefined : [globalInstruction],
        config: generation,
      }),
    },
  );
}

async function compileTools(
  { tools = [], model: ownModel }: Pick<LlmAgentConfig, 'tools' | 'model'>,
  context: CompileContext,
  middleware: ModelMiddleware[],
): Promise<readonly (Tool | Toolset)[]> {
  const compiled: (Tool | Toolset)[] = [];
  const model = typeof ownModel === 'string' ? ownModel : ownModel.name;
  for (const one of tools) {
    if (one instanceof BaseToolset) {
      const opened = await context.openToolset(one);
      compiled.push(opened);
      if (one.toolFilter !== undefined)
        middleware.push(toolFilterMiddleware(opened, one.toolFilter));
      continue;
    }
    if ('processLlmRequest' in one) {
      const { processLlmRequest } = one;
      if (processLlmRequest !== undefined)
        middleware.push({
          before: ({ context: toolContext, request: llmRequest }) =>
            processLlmRequest.call(one, { toolContext, llmRequest, model }),
        });
      if (!('compileTool' in one)) continue;
    }
    if ('compileTool' in one) compiled.push(await one.compileTool(context));
    else compiled.push(one);
  }
  return compiled;
}
