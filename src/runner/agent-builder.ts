import { InvalidInputError, isJsonObject, newSessionId } from '../core/index.ts';
import type { Content, JsonObject } from '../core/index.ts';
import type { ContextCacheConfig, Model } from '../models/index.ts';
import type { CommandOptions } from '../tools/built-in/command-options.ts';
import { tool } from '../tools/index.ts';
import type { ArgsOf, ArtifactService, MemoryService, ToolParameters } from '../tools/index.ts';
import type { AgentCallbacks, OneOrMany } from './agent-callbacks.ts';
import { App } from './app.ts';
import type { AppConfig, ResumabilityConfig } from './app.ts';
import type { BaseAgent } from './base-agent.ts';
import type { BasePlanner } from './base-planner.ts';
import type { BasePlugin } from './base-plugin.ts';
import type { ToolUnion } from './base-toolset.ts';
import { BuiltRunner } from './built-runner.ts';
import type { AgentAnswer, AskedMessage } from './built-runner.ts';
import type { CredentialService } from './credential-service.ts';
import type { EdgeItem } from './edge-items.ts';
import type { EventsCompactionConfig } from './events-compaction-config.ts';
import { InMemorySessionService } from './in-memory-session-service.ts';
import type { InstructionProvider } from './instruction-provider.ts';
import { langGraphEdges } from './lang-graph.ts';
import type { LangGraphNode } from './lang-graph.ts';
import { LlmAgent } from './llm-agent.ts';
import type { LlmAgentConfig } from './llm-agent.ts';
import { LoopAgent } from './loop-agent.ts';
import { ParallelAgent } from './parallel-agent.ts';
import type { RunConfig } from './run-config.ts';
import type { RunnerOptions } from './runner-options.ts';
import { SequentialAgent } from './sequential-agent.ts';
import { ensureSession } from './ensure-session.ts';
import type { SessionService } from './session-service.ts';
import type { Session } from './session.ts';
import { valueParser } from './value-parser.ts';
import { Workflow } from './workflow.ts';

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
  readonly runner: BuiltRunner<T>;
  readonly session: Session;
  readonly sessionService: SessionService;
}

/** What of the agent itself is said; nothing of it is said of an agent that is there already. */
type OwnConfig = Partial<Omit<LlmAgentConfig, 'name' | 'subAgents'>>;

interface Flow {
  readonly kind: 'asSequential' | 'asParallel' | 'asLoop' | 'asWorkflow';
  readonly make: (name: string, description: string | undefined) => BaseAgent;
}

type CallbackKind = keyof AgentCallbacks;

interface Settings {
  readonly name: string;
  readonly own: OwnConfig;
  readonly subAgents: readonly BaseAgent[];
  readonly agent?: BaseAgent;
  readonly flow?: Flow;
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
  readonly #answerOf: (said: readonly AgentAnswer[]) => T;

  private constructor(settings: Settings, answerOf: (said: readonly AgentAnswer[]) => T) {
    this.#settings = settings;
    this.#answerOf = answerOf;
  }

  /** Begins with a name: letters, digits, `_` and `-`. */
  static create(name: string = DEFAULT_NAME): AgentBuilder {
    const settings = { name, own: {}, subAgents: [], app: {}, runner: {}, sessionOptions: {} };
    return new AgentBuilder(settings, lastWords);
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
    return this.#own({ model });
  }

  /** What other agents know of it. */
  withDescription(description: string): AgentBuilder<T> {
    return this.#own({ description });
  }

  /** A template over state, or a function. */
  withInstruction(instruction: string | InstructionProvider): AgentBuilder<T> {
    return this.#own({ instruction });
  }

  /** Adds tools to those it has. */
  withTools(...tools: readonly ToolUnion[]): AgentBuilder<T> {
    return this.#own({ tools: [...(this.#settings.own.tools ?? []), ...tools] });
  }

  /** Makes the model plan before it acts. */
  withPlanner(planner: BasePlanner): AgentBuilder<T> {
    return this.#own({ planner });
  }

  /** Runs programs that the model writes. */
  withCodeExecutor(codeExecutor: CommandOptions): AgentBuilder<T> {
    return this.#own({ codeExecutor });
  }

  /** What may be asked; `ask` then takes a value of it. */
  withInputSchema(inputSchema: ToolParameters): AgentBuilder<T> {
    return this.#with({ inputSchema });
  }

  /** The answer is JSON of this schema, and `ask` gives its value. */
  withOutputSchema<S extends ToolParameters>(outputSchema: S): AgentBuilder<ArgsOf<S>> {
    const parse = valueParser(this.#settings.name, outputSchema);
    const { own } = this.#settings;
    const settings = { ...this.#settings, own: { ...own, outputSchema } };
    return new AgentBuilder(settings, (said) => parse(lastWords(said)));
  }

  /** State that keeps the answer. */
  withOutputKey(outputKey: string): AgentBuilder<T> {
    return this.#own({ outputKey });
  }

  /** Agents it may hand the turn to. */
  withSubAgents(subAgents: readonly BaseAgent[]): AgentBuilder<T> {
    return this.#with({ subAgents: [...this.#settings.subAgents, ...subAgents] });
  }

  /** Asked before the agent begins: an answer in its place. Callbacks of a kind are asked in the order they were given. */
  withBeforeAgentCallback(callback: OneOf<AgentCallbacks['beforeAgentCallback']>): AgentBuilder<T> {
    return this.#callback('beforeAgentCallback', callback);
  }

  /** Asked when the agent is done: more to say. */
  withAfterAgentCallback(callback: OneOf<AgentCallbacks['afterAgentCallback']>): AgentBuilder<T> {
    return this.#callback('afterAgentCallback', callback);
  }

  /** Asked before the model is: changes the request, or answers. */
  withBeforeModelCallback(callback: OneOf<AgentCallbacks['beforeModelCallback']>): AgentBuilder<T> {
    return this.#callback('beforeModelCallback', callback);
  }

  /** Asked when the model has answered: another answer. */
  withAfterModelCallback(callback: OneOf<AgentCallbacks['afterModelCallback']>): AgentBuilder<T> {
    return this.#callback('afterModelCallback', callback);
  }

  /** Asked when the model failed for good: an answer in its place. */
  withOnModelErrorCallback(
    callback: OneOf<AgentCallbacks['onModelErrorCallback']>,
  ): AgentBuilder<T> {
    return this.#callback('onModelErrorCallback', callback);
  }

  /** Asked before a tool runs: other arguments, or a result in its place. */
  withBeforeToolCallback(callback: OneOf<AgentCallbacks['beforeToolCallback']>): AgentBuilder<T> {
    return this.#callback('beforeToolCallback', callback);
  }

  /** Asked when a tool has run well: another result. */
  withAfterToolCallback(callback: OneOf<AgentCallbacks['afterToolCallback']>): AgentBuilder<T> {
    return this.#callback('afterToolCallback', callback);
  }

  /** Asked when a tool failed: a result in place of its error. */
  withOnToolErrorCallback(callback: OneOf<AgentCallbacks['onToolErrorCallback']>): AgentBuilder<T> {
    return this.#callback('onToolErrorCallback', callback);
  }

  /** Takes an agent as it is: everything that is said of the agent itself is refused then. */
  withAgent(agent: BaseAgent): AgentBuilder<T> {
    return this.#with({ agent, name: agent.name });
  }

  /** Agents one after the other. `ask` gives what each said. */
  asSequential(subAgents: readonly BaseAgent[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#flow({
      kind: 'asSequential',
      make: (name, description) =>
        new SequentialAgent({ name, subAgents, ...described(description) }),
    });
  }

  /** Agents side by side. `ask` gives what each said. */
  asParallel(subAgents: readonly BaseAgent[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#flow({
      kind: 'asParallel',
      make: (name, description) =>
        new ParallelAgent({ name, subAgents, ...described(description) }),
    });
  }

  /** Agents again and again, until one escalates; at most so often, 25 unless given. `ask` gives what each said last. */
  asLoop(
    subAgents: readonly BaseAgent[],
    maxIterations?: number,
  ): AgentBuilder<readonly AgentAnswer[]> {
    return this.#flow({
      kind: 'asLoop',
      make: (name, description) =>
        new LoopAgent({
          name,
          subAgents,
          ...(maxIterations !== undefined && { maxIterations }),
          ...described(description),
        }),
    });
  }

  /** Nodes and edges: `asWorkflow([['START', classify, { billing, support }]])`. `ask` gives what each said last. */
  asWorkflow(edges: readonly EdgeItem[]): AgentBuilder<readonly AgentAnswer[]> {
    return this.#flow({
      kind: 'asWorkflow',
      make: (name, description) => new Workflow({ name, edges, ...described(description) }),
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
    return this.#runner({ memoryService });
  }

  /** Where the files of a session are kept. */
  withArtifactService(artifactService: ArtifactService): AgentBuilder<T> {
    return this.#runner({ artifactService });
  }

  /** Where what users signed in for is kept. */
  withCredentialService(credentialService: CredentialService): AgentBuilder<T> {
    return this.#runner({ credentialService });
  }

  /** Where sessions are kept; in memory unless given. Whoever made it closes it. */
  withSessionService(
    sessionService: SessionService,
    options: SessionOptions = {},
  ): AgentBuilder<T> {
    return this.#with({ sessionService, ...this.#sessionOptions(options) });
  }

  /** Goes on with a session, of the service that `withSessionService` was given. */
  withSession(session: Session): AgentBuilder<T> {
    return this.#with({ session });
  }

  /** The session's id, or more of it; it is made when it is not there. */
  withQuickSession(session: string | SessionOptions): AgentBuilder<T> {
    const options = typeof session === 'string' ? { sessionId: session } : session;
    return this.#with(this.#sessionOptions(options));
  }

  /** How each `ask` is run. What was said before stays, where it is not said anew. */
  withRunConfig(runConfig: RunConfig): AgentBuilder<T> {
    return this.#with({ runConfig: { ...this.#settings.runConfig, ...runConfig } });
  }

  /** Adds plugins to those it has. */
  withPlugins(...plugins: readonly BasePlugin[]): AgentBuilder<T> {
    return this.#app({ plugins: [...(this.#settings.app.plugins ?? []), ...plugins] });
  }

  /** Older events are summarised for the model; the session keeps them all. */
  withEventsCompaction(eventsCompactionConfig: EventsCompactionConfig): AgentBuilder<T> {
    return this.#app({ eventsCompactionConfig });
  }

  /** Gemini only, for models by name: its cache of prompts. */
  withContextCacheConfig(contextCacheConfig: ContextCacheConfig): AgentBuilder<T> {
    return this.#app({ contextCacheConfig });
  }

  /** Whether an invocation that a crash cut off is gone on with. */
  withResumability(resumabilityConfig: ResumabilityConfig): AgentBuilder<T> {
    return this.#app({ resumabilityConfig });
  }

  /** Where keys and addresses of models are found: `process.env`, for a program. */
  withEnv(env: NonNullable<RunnerOptions['env']>): AgentBuilder<T> {
    return this.#runner({ env });
  }

  /** What else a runner may be told. */
  withRunnerOptions(
    options: Pick<RunnerOptions, 'modelResolver' | 'clock' | 'onWarning' | 'onError'>,
  ): AgentBuilder<T> {
    return this.#runner(options);
  }

  /** The agent, its runner and a session in which it can be asked. @throws InvalidInputError, and what the service throws */
  async build(): Promise<BuiltAgent<T>> {
    const settings = this.#settings;
    const agent = agentOf(settings);
    const { session: given, sessionOptions, sessionService: service, runConfig } = settings;
    if (given !== undefined && service === undefined)
      throw new InvalidInputError('withSession', 'needs withSessionService: where the session is.');
    const { clock } = settings.runner;
    const sessionService =
      service ?? new InMemorySessionService(clock === undefined ? {} : { clock });
    const appName = given?.appName ?? sessionOptions.appName ?? identifierOf(agent.name);
    const session = given ?? (await openSession(sessionService, appName, sessionOptions));
    const { inputSchema } = settings;
    const runner = new BuiltRunner<T>({
      ...settings.runner,
      app: new App({ ...settings.app, name: appName, rootAgent: agent }),
      sessionService,
      // A message of another user, or into another session, has its own.
      autoCreateSession: true,
      userId: session.userId,
      sessionId: session.id,
      ...(runConfig !== undefined && { runConfig }),
      messageOf: inputSchema === undefined ? plainMessage : typedMessage(agent.name, inputSchema),
      answerOf: this.#answerOf,
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
  async buildWithSchema<S extends ToolParameters>(schema: S): Promise<BuiltAgent<ArgsOf<S>>> {
    return this.withOutputSchema(schema).build();
  }

  /** Builds it, asks once, and closes it. @throws NoAnswerError, and what `build` throws */
  async ask(message: AskedMessage): Promise<T> {
    await using built = await this.build();
    return await built.runner.ask(message);
  }

  #with(more: Partial<Settings>): AgentBuilder<T> {
    return new AgentBuilder({ ...this.#settings, ...more }, this.#answerOf);
  }

  #own(more: OwnConfig): AgentBuilder<T> {
    return this.#with({ own: { ...this.#settings.own, ...more } });
  }

  #app(more: Settings['app']): AgentBuilder<T> {
    return this.#with({ app: { ...this.#settings.app, ...more } });
  }

  #runner(more: Settings['runner']): AgentBuilder<T> {
    return this.#with({ runner: { ...this.#settings.runner, ...more } });
  }

  #sessionOptions(more: SessionOptions): Pick<Settings, 'sessionOptions'> {
    return { sessionOptions: { ...this.#settings.sessionOptions, ...more } };
  }

  #callback<K extends CallbackKind>(kind: K, callback: OneOf<AgentCallbacks[K]>): AgentBuilder<T> {
    const before: AgentCallbacks[K] = this.#settings.own[kind];
    const list: readonly unknown[] = before === undefined ? [] : [before].flat();
    return this.#own({ [kind]: [...list, callback] });
  }

  #flow(flow: Flow): AgentBuilder<readonly AgentAnswer[]> {
    const { flow: before } = this.#settings;
    if (before !== undefined)
      throw new InvalidInputError(
        flow.kind,
        `comes after ${before.kind}: an agent is one of them.`,
      );
    return new AgentBuilder({ ...this.#settings, flow }, (said) => said);
  }
}

type OneOf<C> = NonNullable<C> extends OneOrMany<infer One> ? One : never;

/** The agent that the settings say. @throws InvalidInputError for what would change nothing */
function agentOf({ name, own, subAgents, agent, flow }: Settings): BaseAgent {
  const { description, ...rest } = own;
  const said = [
    ...Object.keys(flow === undefined ? own : rest),
    ...(subAgents.length > 0 ? ['subAgents'] : []),
  ];
  const [field] = said;
  if (agent !== undefined) {
    if (flow !== undefined || field !== undefined)
      throw new InvalidInputError(
        flow?.kind ?? field ?? '',
        `changes nothing of an agent that is there already: say it where "${agent.name}" is made.`,
      );
    return agent;
  }
  if (flow !== undefined) {
    if (field !== undefined)
      throw new InvalidInputError(
        field,
        `changes nothing of ${flow.kind}: say it of the agents it is made of.`,
      );
    return flow.make(name, description);
  }
  const { model } = own;
  if (model === undefined)
    throw new InvalidInputError('model', 'is missing: say withModel, withAgent or as….');
  return new LlmAgent({ ...own, model, name, subAgents });
}

async function openSession(
  service: SessionService,
  appName: string,
  { userId = DEFAULT_USER, sessionId, state }: SessionOptions,
): Promise<Session> {
  const address = { appName, userId, sessionId: sessionId ?? newSessionId() };
  return ensureSession(service, address, state);
}

/** An agent's name as an app's. */
function identifierOf(name: string): string {
  const plain = name.replaceAll('-', '_');
  return plain === 'user' ? 'user_' : plain;
}

function described(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}

function lastWords(said: readonly AgentAnswer[]): string {
  return said.at(-1)?.response ?? '';
}

function plainMessage(asked: AskedMessage): Content | string {
  if (typeof asked === 'string') return asked;
  if ('parts' in asked && Array.isArray(asked.parts))
    return { role: 'user', parts: asked.parts as Content['parts'] };
  throw new InvalidInputError(
    'message',
    'must be text or content, unless withInputSchema is said.',
  );
}

function typedMessage(
  agentName: string,
  schema: ToolParameters,
): (asked: AskedMessage) => Content | string {
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
