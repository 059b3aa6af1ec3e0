import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError } from '../../core/index.ts';
import type { ContextCacheConfig, Model } from '../../models/index.ts';
import type { CommandOptions } from '../../tools/built-in/index.ts';
import type {
  InferArgs,
  ArtifactService,
  MemoryService,
  ToolParameters,
} from '../../tools/index.ts';
import type { AgentCallbacks, OneOrMany } from '../contracts/agent-callbacks.ts';
import type { ResumabilityConfig } from '../app/app-config.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { BasePlanner } from '../agents/base-planner.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import type { ToolUnion } from '../tools/base-toolset.ts';
import type { AgentAnswer, AskInput } from './enhanced-runner.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { EdgeItem } from '../workflow/parsed-edges.ts';
import type { EventsCompactionConfig } from '../compaction/events-compaction-config.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';
import { langGraphEdges } from '../workflow/lang-graph.ts';
import type { LangGraphNode } from '../workflow/lang-graph.ts';
import { LoopAgent } from '../agents/loop-agent.ts';
import { ParallelAgent } from '../agents/parallel-agent.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import type { RunnerOptions } from '../runner/runner-options.ts';
import { SequentialAgent } from '../agents/sequential-agent.ts';
import type { SessionService } from '../sessions/session-service.ts';
import type { Session } from '../sessions/session.ts';
import { createOutputParser } from '../agents/output-parser.ts';
import { Workflow } from '../workflow/workflow.ts';
import { buildAgent } from './build-agent.ts';
import type {
  SessionOptions,
  BuiltAgent,
  LlmSettings,
  CompositeFactory,
  Settings,
} from './build-agent.ts';

type CallbackKind = keyof AgentCallbacks;

const DEFAULT_NAME = 'default_agent';

/**
 * Builds an agent with a runner and a session by chained calls: `AgentBuilder.create('guide').withModel(…).build()`.
 * Each method returns a new builder and does not change this one. `T` is the type of an answer: a string, the value of
 * the output schema, or, for several agents, the list of their answers.
 */
export class AgentBuilder<T = string> {
  readonly #settings: Settings;
  readonly #parseAnswer: (answers: readonly AgentAnswer[]) => T;

  private constructor(settings: Settings, parseAnswer: (answers: readonly AgentAnswer[]) => T) {
    this.#settings = settings;
    this.#parseAnswer = parseAnswer;
  }

  /** Starts with a name: letters, digits, `_` and `-`. */
  static create(name: string = DEFAULT_NAME): AgentBuilder {
    const settings = {
      name,
      llmSettings: {},
      subAgents: [],
      app: {},
      runner: {},
      sessionOptions: {},
    };
    return new AgentBuilder(settings, lastResponse);
  }

  /** Starts with a model. */
  static withModel(model: string | Model): AgentBuilder {
    return AgentBuilder.create().withModel(model);
  }

  /** Starts with an existing agent. */
  static withAgent(agent: BaseAgent): AgentBuilder {
    return AgentBuilder.create(agent.name).withAgent(agent);
  }

  /** Sets the model: a model, or a name such as `gemini-2.5-flash` whose API key is in `withEnv`. */
  withModel(model: string | Model): AgentBuilder<T> {
    return this.#withLlmSettings({ model });
  }

  /** Sets the description that other agents see. */
  withDescription(description: string): AgentBuilder<T> {
    return this.#withLlmSettings({ description });
  }

  /** Sets the instruction: a template over state, or a function. */
  withInstruction(instruction: string | InstructionProvider): AgentBuilder<T> {
    return this.#withLlmSettings({ instruction });
  }

  /** Adds tools. */
  withTools(...tools: readonly ToolUnion[]): AgentBuilder<T> {
    return this.#withLlmSettings({
      tools: [...(this.#settings.llmSettings.tools ?? []), ...tools],
    });
  }

  /** Makes the model plan before it acts. */
  withPlanner(planner: BasePlanner): AgentBuilder<T> {
    return this.#withLlmSettings({ planner });
  }

  /** Runs programs that the model writes. */
  withCodeExecutor(codeExecutor: CommandOptions): AgentBuilder<T> {
    return this.#withLlmSettings({ codeExecutor });
  }

  /** Sets the schema of the input. `ask` then takes a value of it. */
  withInputSchema(inputSchema: ToolParameters): AgentBuilder<T> {
    return this.#with({ inputSchema });
  }

  /** Sets the JSON schema of the answer. `ask` then returns its value. */
  withOutputSchema<S extends ToolParameters>(outputSchema: S): AgentBuilder<InferArgs<S>> {
    const parse = createOutputParser(this.#settings.name, outputSchema);
    const { llmSettings } = this.#settings;
    const settings = { ...this.#settings, llmSettings: { ...llmSettings, outputSchema } };
    return new AgentBuilder(settings, (answers) => parse(lastResponse(answers)));
  }

  /** Sets the state key that receives the answer. */
  withOutputKey(outputKey: string): AgentBuilder<T> {
    return this.#withLlmSettings({ outputKey });
  }

  /** Sets the agents that this agent may transfer to. */
  withSubAgents(subAgents: readonly BaseAgent[]): AgentBuilder<T> {
    return this.#with({ subAgents: [...this.#settings.subAgents, ...subAgents] });
  }

  /**
   * Adds a callback before the agent runs; returned content replaces the run. Callbacks of a kind are called in the
   * order they were added.
   */
  withBeforeAgentCallback(
    callback: SingleCallback<AgentCallbacks['beforeAgentCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('beforeAgentCallback', callback);
  }

  /** Adds a callback after the agent has run; returned content is added. */
  withAfterAgentCallback(
    callback: SingleCallback<AgentCallbacks['afterAgentCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('afterAgentCallback', callback);
  }

  /** Adds a callback before each model call. It may change the request or return the answer. */
  withBeforeModelCallback(
    callback: SingleCallback<AgentCallbacks['beforeModelCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('beforeModelCallback', callback);
  }

  /** Adds a callback after each model call. It may return another answer. */
  withAfterModelCallback(
    callback: SingleCallback<AgentCallbacks['afterModelCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('afterModelCallback', callback);
  }

  /** Adds a callback for a model failure after all attempts. It may return an answer. */
  withOnModelErrorCallback(
    callback: SingleCallback<AgentCallbacks['onModelErrorCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('onModelErrorCallback', callback);
  }

  /** Adds a callback before a tool runs. It may change the arguments or return the result. */
  withBeforeToolCallback(
    callback: SingleCallback<AgentCallbacks['beforeToolCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('beforeToolCallback', callback);
  }

  /** Adds a callback after a tool has succeeded. It may return another result. */
  withAfterToolCallback(
    callback: SingleCallback<AgentCallbacks['afterToolCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('afterToolCallback', callback);
  }

  /** Adds a callback after a tool has failed. It may return a result in place of the error. */
  withOnToolErrorCallback(
    callback: SingleCallback<AgentCallbacks['onToolErrorCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('onToolErrorCallback', callback);
  }

  /** Uses an existing agent. `build` then rejects settings of the agent itself. */
  withAgent(agent: BaseAgent): AgentBuilder<T> {
    return this.#with({ agent, name: agent.name });
  }

  /** Runs agents one after the other. `ask` returns the last answer of each. */
  asSequential(subAgents: readonly BaseAgent[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asSequential',
      make: (name, description) =>
        new SequentialAgent({ name, subAgents, ...descriptionOption(description) }),
    });
  }

  /** Runs agents in parallel. `ask` returns the last answer of each. */
  asParallel(subAgents: readonly BaseAgent[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asParallel',
      make: (name, description) =>
        new ParallelAgent({ name, subAgents, ...descriptionOption(description) }),
    });
  }

  /**
   * Runs agents repeatedly until one escalates. Default of `maxIterations`: 25. `ask` returns the last answer of each.
   */
  asLoop(
    subAgents: readonly BaseAgent[],
    maxIterations?: number,
  ): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asLoop',
      make: (name, description) =>
        new LoopAgent({
          name,
          subAgents,
          ...omitUndefined({ maxIterations }),
          ...descriptionOption(description),
        }),
    });
  }

  /**
   * Runs a graph of nodes: `asWorkflow([['START', classify, { billing, support }]])`. `ask` returns the last answer of
   * each.
   */
  asWorkflow(edges: readonly EdgeItem[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asWorkflow',
      make: (name, description) => new Workflow({ name, edges, ...descriptionOption(description) }),
    });
  }

  /**
   * Runs a graph of named agents with targets and conditions, in the form that ADK-TS uses. An edge back needs a
   * condition. `ask` returns the last answer of each.
   * @throws InvalidInputError if a target names no node
   */
  asLangGraph(
    nodes: readonly LangGraphNode[],
    startNode: string,
  ): AgentBuilder<readonly AgentAnswer[]> {
    return this.asWorkflow(langGraphEdges(nodes, startNode));
  }

  /** Sets the memory across sessions. It ingests each invocation when it ends. */
  withMemory(memoryService: MemoryService): AgentBuilder<T> {
    return this.#withRunner({ memoryService });
  }

  /** Sets where the files of sessions are kept. */
  withArtifactService(artifactService: ArtifactService): AgentBuilder<T> {
    return this.#withRunner({ artifactService });
  }

  /** Sets where credentials of users are kept. */
  withCredentialService(credentialService: CredentialService): AgentBuilder<T> {
    return this.#withRunner({ credentialService });
  }

  /** Sets where sessions are kept. The caller closes the service. Default: in memory. */
  withSessionService(
    sessionService: SessionService,
    options: SessionOptions = {},
  ): AgentBuilder<T> {
    return this.#with({ sessionService, ...this.#mergeSessionOptions(options) });
  }

  /** Continues an existing session of the service given to `withSessionService`. */
  withSession(session: Session): AgentBuilder<T> {
    return this.#with({ session });
  }

  /** Sets the id of the session, or more of its options. The session is created if it does not exist. */
  withQuickSession(session: string | SessionOptions): AgentBuilder<T> {
    const options = typeof session === 'string' ? { sessionId: session } : session;
    return this.#with(this.#mergeSessionOptions(options));
  }

  /** Sets how each `ask` runs. Merged with the config of earlier calls. */
  withRunConfig(runConfig: RunConfig): AgentBuilder<T> {
    return this.#with({ runConfig: { ...this.#settings.runConfig, ...runConfig } });
  }

  /** Adds plugins. */
  withPlugins(...plugins: readonly BasePlugin[]): AgentBuilder<T> {
    return this.#withApp({ plugins: [...(this.#settings.app.plugins ?? []), ...plugins] });
  }

  /** Sets when older events are summarized for the model. The session keeps all events. */
  withEventsCompaction(eventsCompactionConfig: EventsCompactionConfig): AgentBuilder<T> {
    return this.#withApp({ eventsCompactionConfig });
  }

  /** Sets the prompt cache. Gemini only, for models given by name. */
  withContextCacheConfig(contextCacheConfig: ContextCacheConfig): AgentBuilder<T> {
    return this.#withApp({ contextCacheConfig });
  }

  /** Sets whether an invocation that a crash interrupted is resumed. */
  withResumability(resumabilityConfig: ResumabilityConfig): AgentBuilder<T> {
    return this.#withApp({ resumabilityConfig });
  }

  /** Sets where API keys and endpoints of models are read from, for example `process.env`. */
  withEnv(env: NonNullable<RunnerOptions['env']>): AgentBuilder<T> {
    return this.#withRunner({ env });
  }

  /** Sets further options of the runner. */
  withRunnerOptions(
    options: Pick<RunnerOptions, 'modelResolver' | 'clock' | 'onWarning' | 'onError'>,
  ): AgentBuilder<T> {
    return this.#withRunner(options);
  }

  /**
   * Builds the agent, its runner and a session.
   * @throws InvalidInputError if the settings are incomplete or contradict each other
   * @throws errors of the session service
   */
  async build(): Promise<BuiltAgent<T>> {
    return buildAgent(this.#settings, this.#parseAnswer);
  }

  /** The same as `withOutputSchema(schema).build()`. */
  async buildWithSchema<S extends ToolParameters>(schema: S): Promise<BuiltAgent<InferArgs<S>>> {
    return this.withOutputSchema(schema).build();
  }

  /**
   * Builds the agent, asks it once, and closes it.
   * @throws NoAnswerError if the agent gives no answer
   * @throws errors of `build`
   */
  async ask(message: AskInput): Promise<T> {
    await using built = await this.build();
    return await built.runner.ask(message);
  }

  #with(more: Partial<Settings>): AgentBuilder<T> {
    return new AgentBuilder({ ...this.#settings, ...more }, this.#parseAnswer);
  }

  #withLlmSettings(more: LlmSettings): AgentBuilder<T> {
    return this.#with({ llmSettings: { ...this.#settings.llmSettings, ...more } });
  }

  #withApp(more: Settings['app']): AgentBuilder<T> {
    return this.#with({ app: { ...this.#settings.app, ...more } });
  }

  #withRunner(more: Settings['runner']): AgentBuilder<T> {
    return this.#with({ runner: { ...this.#settings.runner, ...more } });
  }

  #mergeSessionOptions(more: SessionOptions): Pick<Settings, 'sessionOptions'> {
    return { sessionOptions: { ...this.#settings.sessionOptions, ...more } };
  }

  #withCallback<K extends CallbackKind>(
    kind: K,
    callback: SingleCallback<AgentCallbacks[K]>,
  ): AgentBuilder<T> {
    const before: AgentCallbacks[K] = this.#settings.llmSettings[kind];
    const list: readonly unknown[] = before === undefined ? [] : [before].flat();
    return this.#withLlmSettings({ [kind]: [...list, callback] });
  }

  #withComposite(composite: CompositeFactory): AgentBuilder<readonly AgentAnswer[]> {
    const { composite: before } = this.#settings;
    if (before !== undefined)
      throw new InvalidInputError(
        composite.kind,
        `cannot be combined with ${before.kind}: use one of the two.`,
      );
    return new AgentBuilder({ ...this.#settings, composite }, (answers) => answers);
  }
}

type SingleCallback<C> = NonNullable<C> extends OneOrMany<infer One> ? One : never;

function descriptionOption(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}

function lastResponse(answers: readonly AgentAnswer[]): string {
  return answers.at(-1)?.response ?? '';
}
