import { InvalidInputError, isJsonObject, newSessionId } from '../../core/index.ts';
import type { Content, JsonObject } from '../../core/index.ts';
import type { ContextCacheConfig, Model } from '../../models/index.ts';
import type { CommandOptions } from '../../tools/built-in/commands/command-options.ts';
import { tool } from '../../tools/index.ts';
import type {
  InferArgs,
  ArtifactService,
  MemoryService,
  ToolParameters,
} from '../../tools/index.ts';
import type { AgentCallbacks, OneOrMany } from '../contracts/agent-callbacks.ts';
import { App } from '../app.ts';
import type { AppConfig, ResumabilityConfig } from '../app.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { BasePlanner } from '../agents/base-planner.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import type { ToolUnion } from '../tools/base-toolset.ts';
import { EnhancedRunner } from './enhanced-runner.ts';
import type { AgentAnswer, AskInput } from './enhanced-runner.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { EdgeItem } from '../workflow/parsed-edges.ts';
import type { EventsCompactionConfig } from '../compaction/events-compaction-config.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import type { InstructionProvider } from '../contracts/instruction-provider.ts';
import { langGraphEdges } from '../workflow/lang-graph.ts';
import type { LangGraphNode } from '../workflow/lang-graph.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import type { LlmAgentConfig } from '../agents/llm-agent.ts';
import { LoopAgent } from '../agents/loop-agent.ts';
import { ParallelAgent } from '../agents/parallel-agent.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import type { RunnerOptions } from '../runner/runner-options.ts';
import { SequentialAgent } from '../agents/sequential-agent.ts';
import { ensureSession } from '../sessions/ensure-session.ts';
import type { SessionService } from '../sessions/session-service.ts';
import type { Session } from '../sessions/session.ts';
import { createOutputParser } from '../agents/output-parser.ts';
import { Workflow } from '../workflow/workflow.ts';

/** Which session is made, or gone on with. What is missing is made up. */
export interface SessionOptions {
  /** As `App.name`. Default: the agent's name, with `_` for `-`. */
  readonly appName?: string;
  /** `user` unless given. */
  readonly userId?: string;
  readonly sessionId?: string;
  /** What a new session begins with. */
  readonly state?: JsonObject;
}

/** What is there when an agent is built. Close it with its runner, or with `await using`. */
export interface BuiltAgent<T> extends AsyncDisposable {
  readonly agent: BaseAgent;
  readonly runner: EnhancedRunner<T>;
  readonly session: Session;
  readonly sessionService: SessionService;
}

/** What of the agent itself is said; nothing of it is said of an agent that is there already. */
type LlmSettings = Partial<Omit<LlmAgentConfig, 'name' | 'subAgents'>>;

interface CompositeFactory {
  readonly kind: 'asSequential' | 'asParallel' | 'asLoop' | 'asWorkflow';
  readonly make: (name: string, description: string | undefined) => BaseAgent;
}

type CallbackKind = keyof AgentCallbacks;

interface Settings {
  readonly name: string;
  readonly llmSettings: LlmSettings;
  readonly subAgents: readonly BaseAgent[];
  readonly agent?: BaseAgent;
  readonly composite?: CompositeFactory;
  readonly app: Pick<
    AppConfig,
    'plugins' | 'contextCacheConfig' | 'resumabilityConfig' | 'eventsCompactionConfig'
  >;
  readonly runner: Pick<
    RunnerOptions,
    | 'artifactService'
    | 'memoryService'
    | 'credentialService'
    | 'env'
    | 'modelResolver'
    | 'clock'
    | 'onWarning'
    | 'onError'
  >;
  readonly inputSchema?: ToolParameters;
  readonly runConfig?: RunConfig;
  readonly sessionService?: SessionService;
  readonly session?: Session;
  readonly sessionOptions: SessionOptions;
}

const DEFAULT_NAME = 'default_agent';
const DEFAULT_USER = 'user';

/**
 * Makes an agent with a runner and a session, one word after the other: `AgentBuilder.create('guide').withModel(…).build()`.
 * Each method gives another builder and leaves this one as it is. `T` is what an answer is: text, or with an output schema
 * its value, or of several agents what each said.
 */
export class AgentBuilder<T = string> {
  readonly #settings: Settings;
  readonly #parseAnswer: (answers: readonly AgentAnswer[]) => T;

  private constructor(settings: Settings, parseAnswer: (answers: readonly AgentAnswer[]) => T) {
    this.#settings = settings;
    this.#parseAnswer = parseAnswer;
  }

  /** Begins with a name: letters, digits, `_` and `-`. */
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

  /** Begins with a model. */
  static withModel(model: string | Model): AgentBuilder {
    return AgentBuilder.create().withModel(model);
  }

  /** Begins with an agent that is there already. */
  static withAgent(agent: BaseAgent): AgentBuilder {
    return AgentBuilder.create(agent.name).withAgent(agent);
  }

  /** A name such as `gemini-2.5-flash`, which `withEnv` has the key for, or a model. */
  withModel(model: string | Model): AgentBuilder<T> {
    return this.#withLlmSettings({ model });
  }

  /** What other agents know of it. */
  withDescription(description: string): AgentBuilder<T> {
    return this.#withLlmSettings({ description });
  }

  /** A template over state, or a function. */
  withInstruction(instruction: string | InstructionProvider): AgentBuilder<T> {
    return this.#withLlmSettings({ instruction });
  }

  /** Adds tools to those it has. */
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

  /** What may be asked; `ask` then takes a value of it. */
  withInputSchema(inputSchema: ToolParameters): AgentBuilder<T> {
    return this.#with({ inputSchema });
  }

  /** The answer is JSON of this schema, and `ask` gives its value. */
  withOutputSchema<S extends ToolParameters>(outputSchema: S): AgentBuilder<InferArgs<S>> {
    const parse = createOutputParser(this.#settings.name, outputSchema);
    const { llmSettings } = this.#settings;
    const settings = { ...this.#settings, llmSettings: { ...llmSettings, outputSchema } };
    return new AgentBuilder(settings, (answers) => parse(lastResponse(answers)));
  }

  /** State that keeps the answer. */
  withOutputKey(outputKey: string): AgentBuilder<T> {
    return this.#withLlmSettings({ outputKey });
  }

  /** Agents it may hand the turn to. */
  withSubAgents(subAgents: readonly BaseAgent[]): AgentBuilder<T> {
    return this.#with({ subAgents: [...this.#settings.subAgents, ...subAgents] });
  }

  /** Asked before the agent begins: an answer in its place. Callbacks of a kind are asked in the order they were given. */
  withBeforeAgentCallback(
    callback: SingleCallback<AgentCallbacks['beforeAgentCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('beforeAgentCallback', callback);
  }

  /** Asked when the agent is done: more to say. */
  withAfterAgentCallback(
    callback: SingleCallback<AgentCallbacks['afterAgentCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('afterAgentCallback', callback);
  }

  /** Asked before the model is: changes the request, or answers. */
  withBeforeModelCallback(
    callback: SingleCallback<AgentCallbacks['beforeModelCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('beforeModelCallback', callback);
  }

  /** Asked when the model has answered: another answer. */
  withAfterModelCallback(
    callback: SingleCallback<AgentCallbacks['afterModelCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('afterModelCallback', callback);
  }

  /** Asked when the model failed for good: an answer in its place. */
  withOnModelErrorCallback(
    callback: SingleCallback<AgentCallbacks['onModelErrorCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('onModelErrorCallback', callback);
  }

  /** Asked before a tool runs: other arguments, or a result in its place. */
  withBeforeToolCallback(
    callback: SingleCallback<AgentCallbacks['beforeToolCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('beforeToolCallback', callback);
  }

  /** Asked when a tool has run well: another result. */
  withAfterToolCallback(
    callback: SingleCallback<AgentCallbacks['afterToolCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('afterToolCallback', callback);
  }

  /** Asked when a tool failed: a result in place of its error. */
  withOnToolErrorCallback(
    callback: SingleCallback<AgentCallbacks['onToolErrorCallback']>,
  ): AgentBuilder<T> {
    return this.#withCallback('onToolErrorCallback', callback);
  }

  /** Takes an agent as it is: everything that is said of the agent itself is refused then. */
  withAgent(agent: BaseAgent): AgentBuilder<T> {
    return this.#with({ agent, name: agent.name });
  }

  /** Agents one after the other. `ask` gives what each said. */
  asSequential(subAgents: readonly BaseAgent[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asSequential',
      make: (name, description) =>
        new SequentialAgent({ name, subAgents, ...descriptionOption(description) }),
    });
  }

  /** Agents side by side. `ask` gives what each said. */
  asParallel(subAgents: readonly BaseAgent[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asParallel',
      make: (name, description) =>
        new ParallelAgent({ name, subAgents, ...descriptionOption(description) }),
    });
  }

  /** Agents again and again, until one escalates; at most so often, 25 unless given. `ask` gives what each said last. */
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
          ...(maxIterations !== undefined && { maxIterations }),
          ...descriptionOption(description),
        }),
    });
  }

  /** Nodes and edges: `asWorkflow([['START', classify, { billing, support }]])`. `ask` gives what each said last. */
  asWorkflow(edges: readonly EdgeItem[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#withComposite({
      kind: 'asWorkflow',
      make: (name, description) => new Workflow({ name, edges, ...descriptionOption(description) }),
    });
  }

  /**
   * Agents by name, where each leads to, and a condition for it to have its turn, as ADK-TS has them. A way back needs a
   * condition. `ask` gives what each said last.
   * @throws InvalidInputError
   */
  asLangGraph(
    nodes: readonly LangGraphNode[],
    startNode: string,
  ): AgentBuilder<readonly AgentAnswer[]> {
    return this.asWorkflow(langGraphEdges(nodes, startNode));
  }

  /** Remembers across sessions, and is fed after each invocation. */
  withMemory(memoryService: MemoryService): AgentBuilder<T> {
    return this.#withRunner({ memoryService });
  }

  /** Where the files of a session are kept. */
  withArtifactService(artifactService: ArtifactService): AgentBuilder<T> {
    return this.#withRunner({ artifactService });
  }

  /** Where what users signed in for is kept. */
  withCredentialService(credentialService: CredentialService): AgentBuilder<T> {
    return this.#withRunner({ credentialService });
  }

  /** Where sessions are kept; in memory unless given. Whoever made it closes it. */
  withSessionService(
    sessionService: SessionService,
    options: SessionOptions = {},
  ): AgentBuilder<T> {
    return this.#with({ sessionService, ...this.#mergeSessionOptions(options) });
  }

  /** Goes on with a session, of the service that `withSessionService` was given. */
  withSession(session: Session): AgentBuilder<T> {
    return this.#with({ session });
  }

  /** The session's id, or more of it; it is made when it is not there. */
  withQuickSession(session: string | SessionOptions): AgentBuilder<T> {
    const options = typeof session === 'string' ? { sessionId: session } : session;
    return this.#with(this.#mergeSessionOptions(options));
  }

  /** How each `ask` is run. What was said before stays, where it is not said anew. */
  withRunConfig(runConfig: RunConfig): AgentBuilder<T> {
    return this.#with({ runConfig: { ...this.#settings.runConfig, ...runConfig } });
  }

  /** Adds plugins to those it has. */
  withPlugins(...plugins: readonly BasePlugin[]): AgentBuilder<T> {
    return this.#withApp({ plugins: [...(this.#settings.app.plugins ?? []), ...plugins] });
  }

  /** Older events are summarised for the model; the session keeps them all. */
  withEventsCompaction(eventsCompactionConfig: EventsCompactionConfig): AgentBuilder<T> {
    return this.#withApp({ eventsCompactionConfig });
  }

  /** Gemini only, for models by name: its cache of prompts. */
  withContextCacheConfig(contextCacheConfig: ContextCacheConfig): AgentBuilder<T> {
    return this.#withApp({ contextCacheConfig });
  }

  /** Whether an invocation that a crash cut off is gone on with. */
  withResumability(resumabilityConfig: ResumabilityConfig): AgentBuilder<T> {
    return this.#withApp({ resumabilityConfig });
  }

  /** Where keys and addresses of models are found: `process.env`, for a program. */
  withEnv(env: NonNullable<RunnerOptions['env']>): AgentBuilder<T> {
    return this.#withRunner({ env });
  }

  /** What else a runner may be told. */
  withRunnerOptions(
    options: Pick<RunnerOptions, 'modelResolver' | 'clock' | 'onWarning' | 'onError'>,
  ): AgentBuilder<T> {
    return this.#withRunner(options);
  }

  /** The agent, its runner and a session in which it can be asked. @throws InvalidInputError, and what the service throws */
  async build(): Promise<BuiltAgent<T>> {
    const settings = this.#settings;
    const agent = createRootAgent(settings);
    const { session: existing, sessionOptions, sessionService: service, runConfig } = settings;
    if (existing !== undefined && service === undefined)
      throw new InvalidInputError('withSession', 'needs withSessionService: where the session is.');
    const { clock } = settings.runner;
    const sessionService =
      service ?? new InMemorySessionService(clock === undefined ? {} : { clock });
    const appName = existing?.appName ?? sessionOptions.appName ?? toAppName(agent.name);
    const session =
      existing ?? (await createOrReadSession(sessionService, appName, sessionOptions));
    const { inputSchema } = settings;
    const runner = new EnhancedRunner<T>({
      ...settings.runner,
      app: new App({ ...settings.app, name: appName, rootAgent: agent }),
      sessionService,
      // A message of another user, or into another session, has its own.
      autoCreateSession: true,
      userId: session.userId,
      sessionId: session.id,
      ...(runConfig !== undefined && { runConfig }),
      toMessage:
        inputSchema === undefined ? toPlainMessage : createTypedMessage(agent.name, inputSchema),
      parseAnswer: this.#parseAnswer,
      ownsSessions: service === undefined,
    });
    return {
      agent,
      runner,
      session,
      sessionService,
      [Symbol.asyncDispose]: async () => runner.close(),
    };
  }

  /** The same as `withOutputSchema(schema).build()`. */
  async buildWithSchema<S extends ToolParameters>(schema: S): Promise<BuiltAgent<InferArgs<S>>> {
    return this.withOutputSchema(schema).build();
  }

  /** Builds it, asks once, and closes it. @throws NoAnswerError, and what `build` throws */
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
        `comes after ${before.kind}: an agent is one of them.`,
      );
    return new AgentBuilder({ ...this.#settings, composite }, (answers) => answers);
  }
}

type SingleCallback<C> = NonNullable<C> extends OneOrMany<infer One> ? One : never;

/** The agent that the settings say. @throws InvalidInputError for what would change nothing */
function createRootAgent({ name, llmSettings, subAgents, agent, composite }: Settings): BaseAgent {
  const { description, ...rest } = llmSettings;
  const changes = [
    ...Object.keys(composite === undefined ? llmSettings : rest),
    ...(subAgents.length > 0 ? ['subAgents'] : []),
  ];
  const [field] = changes;
  if (agent !== undefined) {
    if (composite !== undefined || field !== undefined)
      throw new InvalidInputError(
        composite?.kind ?? field ?? '',
        `changes nothing of an agent that is there already: say it where "${agent.name}" is made.`,
      );
    return agent;
  }
  if (composite !== undefined) {
    if (field !== undefined)
      throw new InvalidInputError(
        field,
        `changes nothing of ${composite.kind}: say it of the agents it is made of.`,
      );
    return composite.make(name, description);
  }
  const { model } = llmSettings;
  if (model === undefined)
    throw new InvalidInputError('model', 'is missing: say withModel, withAgent or as….');
  return new LlmAgent({ ...llmSettings, model, name, subAgents });
}

async function createOrReadSession(
  service: SessionService,
  appName: string,
  { userId = DEFAULT_USER, sessionId, state }: SessionOptions,
): Promise<Session> {
  const address = { appName, userId, sessionId: sessionId ?? newSessionId() };
  return ensureSession(service, address, state);
}

/** An agent's name as an app's. */
function toAppName(name: string): string {
  const plain = name.replaceAll('-', '_');
  return plain === 'user' ? 'user_' : plain;
}

function descriptionOption(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}

function lastResponse(answers: readonly AgentAnswer[]): string {
  return answers.at(-1)?.response ?? '';
}

function toPlainMessage(input: AskInput): Content | string {
  if (typeof input === 'string') return input;
  if ('parts' in input && Array.isArray(input.parts))
    return { role: 'user', parts: input.parts as Content['parts'] };
  throw new InvalidInputError(
    'message',
    'must be text or content, unless withInputSchema is said.',
  );
}

function createTypedMessage(
  agentName: string,
  schema: ToolParameters,
): (input: AskInput) => Content | string {
  const { parse } = tool({ name: 'input', description: 'What is asked.', parameters: schema });
  return (asked) => {
    const parsed = isJsonObject(asked) ? parse(asked) : undefined;
    if (parsed?.ok === true) return JSON.stringify(parsed.value);
    throw new InvalidInputError(
      'message',
      `does not fit the inputSchema of "${agentName}": ${parsed?.message ?? 'it is no object.'}`,
    );
  };
}
