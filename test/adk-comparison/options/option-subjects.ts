import { AGENT_TOOL_OPTIONS } from '../../../src/agents/tools/agent-tool.ts';
import { AgentTool, App, FunctionTool, LlmAgent, LoopAgent } from '../../../src/adk/index.ts';
import {
  InMemoryRunner,
  InMemorySessionService,
  Runner,
  Workflow,
} from '../../../src/adk/index.ts';
import type { RunParams } from '../../../src/adk/index.ts';
import { APP_OPTIONS } from '../../../src/adk/app/app.ts';
import { LLM_AGENT_OPTIONS } from '../../../src/adk/agents/llm-agent.ts';
import { LOOP_AGENT_OPTIONS } from '../../../src/adk/agents/loop-agent.ts';
import { RUN_CONFIG_OPTIONS } from '../../../src/adk/contracts/run-config.ts';
import { RUN_PARAMS_OPTIONS } from '../../../src/adk/runner/run-params.ts';
import { RUNNER_OPTIONS } from '../../../src/adk/runner/runner-options.ts';
import { WORKFLOW_CONFIG_OPTIONS } from '../../../src/adk/workflow/workflow.ts';
import type { OptionTable } from '../../../src/core/index.ts';
import { ScriptedModel } from '../../../src/models/index.ts';
import { FUNCTION_TOOL_OPTIONS } from '../../../src/adk/tools/function-tool-definition.ts';
import type { DeclaredType } from './declared-options.ts';

/** A type of options that both packages have. */
export interface OptionSubject {
  readonly name: string;
  /** The declarations of `@google/adk`, with those of the types that it extends. */
  readonly declared: readonly DeclaredType[];
  /** Options of ADK for Python in camelCase that ADK for TypeScript does not have. */
  readonly python: readonly string[];
  readonly table: OptionTable;
  /** Options that are refused, with the reason. */
  readonly refused: Readonly<Record<string, string>>;
  /** Uses these options without types, as JavaScript does. */
  readonly use: (options: Readonly<Record<string, unknown>>) => unknown;
}

const model = new ScriptedModel([]);
const llm = (): LlmAgent => new LlmAgent({ name: 'a', model });
const baseNode: DeclaredType = { file: 'workflow/base_node', name: 'BaseNodeConfig' };
const baseAgent: DeclaredType = { file: 'agents/base_agent', name: 'BaseAgentConfig' };

const nodeOptions = {
  rerunOnResume: 'An option of the node: `node(agent, { rerunOnResume })`.',
  waitForOutput: 'A node waits for its agent.',
  retryConfig: 'An option of the node: `node(agent, { retryConfig })`.',
  timeout: 'An option of the node: `node(agent, { timeoutMs })`.',
  isolationScope: 'Branches isolate agents that run at the same time.',
} as const;

const agentOptions = {
  ...nodeOptions,
  parentAgent: 'It follows from `subAgents`.',
  stateSchema: 'An option of the workflow.',
} as const;

async function run(options: Readonly<Record<string, unknown>>): Promise<void> {
  await using runner = new InMemoryRunner({ agent: llm() });
  const params: RunParams = { userId: 'u', sessionId: 's', newMessage: 'Hi', ...options };
  for await (const _ of runner.runAsync(params));
}

/** All types of options that are compared. */
export const OPTION_SUBJECTS: readonly OptionSubject[] = [
  {
    name: 'LlmAgent',
    declared: [{ file: 'agents/llm_agent', name: 'LlmAgentConfig' }, baseAgent, baseNode],
    python: ['planner', 'staticInstruction', 'onModelErrorCallback', 'onToolErrorCallback'],
    table: LLM_AGENT_OPTIONS,
    refused: {
      ...agentOptions,
      mode: 'A node runs its agent once. An agent with `outputSchema` and tools ends with `set_model_response`.',
      requestProcessors: 'Use `beforeModelCallback`.',
      responseProcessors: 'Use `afterModelCallback`.',
      contextCompactors: 'Use `eventsCompactionConfig` of the app.',
      staticInstruction:
        'Use `globalInstruction`, which comes first, and `contextCacheConfig` of the app.',
    },
    use: (options) => Reflect.construct(LlmAgent, [{ name: 'a', model, ...options }]),
  },
  {
    name: 'LoopAgent',
    declared: [{ file: 'agents/loop_agent', name: 'LoopAgentConfig' }, baseAgent, baseNode],
    python: [],
    table: LOOP_AGENT_OPTIONS,
    refused: { ...agentOptions, outputSchema: 'An option of an `LlmAgent`.' },
    use: (options) => Reflect.construct(LoopAgent, [{ name: 'a', subAgents: [llm()], ...options }]),
  },
  {
    name: 'Workflow',
    declared: [{ file: 'workflow/workflow', name: 'WorkflowConfig' }, baseNode],
    python: [],
    table: WORKFLOW_CONFIG_OPTIONS,
    refused: {
      ...nodeOptions,
      dynamicEntry: 'Use a custom agent, which runs its sub-agents with code.',
      maxConcurrency: 'Use `maxParallelWorkers` of a node.',
      outputSchema: 'An option of the nodes.',
    },
    use: (options) =>
      Reflect.construct(Workflow, [{ name: 'a', edges: [['START', llm()]], ...options }]),
  },
  {
    name: 'App',
    declared: [{ file: 'apps/app', name: 'AppOptions' }],
    python: ['eventsCompactionConfig', 'contextCacheConfig'],
    table: APP_OPTIONS,
    refused: {},
    use: (options) => Reflect.construct(App, [{ name: 'a', rootAgent: llm(), ...options }]),
  },
  {
    name: 'Runner',
    declared: [{ file: 'runner/runner', name: 'RunnerConfig' }],
    python: ['node', 'pluginCloseTimeout', 'autoCreateSession'],
    table: RUNNER_OPTIONS,
    refused: {},
    use: (options) =>
      Reflect.construct(Runner, [
        { agent: llm(), appName: 'a', sessionService: new InMemorySessionService(), ...options },
      ]),
  },
  {
    name: 'Runner.runAsync',
    declared: [{ file: 'runner/runner', name: 'Runner', method: 'runAsync' }],
    python: ['invocationId'],
    table: RUN_PARAMS_OPTIONS,
    refused: {},
    use: run,
  },
  {
    name: 'RunConfig',
    declared: [{ file: 'agents/run_config', name: 'RunConfig' }],
    python: ['sessionResumption', 'saveLiveBlob', 'customMetadata', 'toolThreadPoolConfig'],
    table: RUN_CONFIG_OPTIONS,
    refused: {
      pauseOnToolCalls: 'A tool without `execute` waits for the client.',
      plainTextToolConfirmation: 'A confirmation is a function response with the id of its call.',
      allowRemoteToolConfirmation: 'Permissions of API keys decide who answers.',
      remoteDelivered: 'The server knows how a message arrived.',
    },
    use: async (options) => run({ runConfig: options }),
  },
  {
    name: 'FunctionTool',
    declared: [{ file: 'tools/function_tool', name: 'ToolOptions' }],
    python: [],
    table: FUNCTION_TOOL_OPTIONS,
    refused: {},
    use: (options) =>
      Reflect.construct(FunctionTool, [{ name: 'a', description: 'A.', ...options }]),
  },
  {
    name: 'AgentTool',
    declared: [{ file: 'tools/agent_tool', name: 'AgentToolConfig' }],
    python: ['includePlugins'],
    table: {
      ...AGENT_TOOL_OPTIONS,
      names: { ...AGENT_TOOL_OPTIONS.names, agent: true },
    },
    refused: { includePlugins: 'The plugins of the app apply to agents that are called as tools.' },
    use: (options) => Reflect.construct(AgentTool, [{ agent: llm(), ...options }]),
  },
];
