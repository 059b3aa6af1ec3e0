import { omitUndefined } from '../../core/internal.ts';
import { InvalidInputError, isJsonObject, newSessionId } from '../../core/index.ts';
import type { Content, JsonObject } from '../../core/index.ts';
import { tool } from '../../tools/index.ts';
import type { ToolParameters } from '../../tools/index.ts';
import { App } from '../app/app.ts';
import type { AppConfig } from '../app/app-config.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import { EnhancedRunner } from './enhanced-runner.ts';
import type { AgentAnswer, AskInput } from './enhanced-runner.ts';
import { InMemorySessionService } from '../sessions/in-memory-session-service.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import type { LlmAgentConfig } from '../agents/llm-agent.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import type { RunnerOptions } from '../runner/runner-options.ts';
import { ensureSession } from '../sessions/ensure-session.ts';
import type { SessionService } from '../sessions/session-service.ts';
import type { Session } from '../sessions/session.ts';

/** The session to create or continue. Missing members get defaults. */
export interface SessionOptions {
  /** As `App.name`. Default: the agent's name, with `_` for `-`. */
  readonly appName?: string;
  /** Default: `user`. */
  readonly userId?: string;
  readonly sessionId?: string;
  /** Initial state of a new session. */
  readonly state?: JsonObject;
}

/** The result of `build`. Close it with its runner, or with `await using`. */
export interface BuiltAgent<T> extends AsyncDisposable {
  readonly agent: BaseAgent;
  readonly runner: EnhancedRunner<T>;
  readonly session: Session;
  readonly sessionService: SessionService;
}

/** Settings of the agent itself. They are rejected for an existing agent. */
export type LlmSettings = Partial<Omit<LlmAgentConfig, 'name' | 'subAgents'>>;

/** Creates an agent that is composed of others. */
export interface CompositeFactory {
  readonly kind: 'asSequential' | 'asParallel' | 'asLoop' | 'asWorkflow';
  readonly make: (name: string, description: string | undefined) => BaseAgent;
}

/** What a builder has collected so far. */
export interface Settings {
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

const DEFAULT_USER = 'user';

/**
 * Builds the agent, its runner and a session from the settings of a builder.
 * @throws InvalidInputError if the settings are incomplete or contradict each other
 * @throws errors of the session service
 */
export async function buildAgent<T>(
  settings: Settings,
  parseAnswer: (answers: readonly AgentAnswer[]) => T,
): Promise<BuiltAgent<T>> {
  const agent = createRootAgent(settings);
  const { session: existing, sessionOptions, sessionService: service, runConfig } = settings;
  if (existing !== undefined && service === undefined)
    throw new InvalidInputError(
      'withSession',
      'requires withSessionService with the service that holds the session.',
    );
  const { clock } = settings.runner;
  const sessionService =
    service ?? new InMemorySessionService(clock === undefined ? {} : { clock });
  const appName = existing?.appName ?? sessionOptions.appName ?? toAppName(agent.name);
  const session = existing ?? (await createOrReadSession(sessionService, appName, sessionOptions));
  const { inputSchema } = settings;
  const runner = new EnhancedRunner<T>({
    ...settings.runner,
    app: new App({ ...settings.app, name: appName, rootAgent: agent }),
    sessionService,
    // Messages of other users or for other sessions need sessions, too.
    autoCreateSession: true,
    userId: session.userId,
    sessionId: session.id,
    ...omitUndefined({ runConfig }),
    toMessage:
      inputSchema === undefined ? toPlainMessage : createTypedMessage(agent.name, inputSchema),
    parseAnswer: parseAnswer,
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

/**
 * Creates the root agent from the settings.
 * @throws InvalidInputError for a setting that would have no effect
 */
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
        `cannot be set for an existing agent: set it where "${agent.name}" is created.`,
      );
    return agent;
  }
  if (composite !== undefined) {
    if (field !== undefined)
      throw new InvalidInputError(
        field,
        `has no effect on ${composite.kind}: set it on its sub-agents.`,
      );
    return composite.make(name, description);
  }
  const { model } = llmSettings;
  if (model === undefined)
    throw new InvalidInputError(
      'model',
      'is missing: call withModel, withAgent or one of the as… methods.',
    );
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

/** Converts an agent's name to a valid app name. */
function toAppName(name: string): string {
  const plain = name.replaceAll('-', '_');
  return plain === 'user' ? 'user_' : plain;
}

function toPlainMessage(input: AskInput): Content | string {
  if (typeof input === 'string') return input;
  if ('parts' in input && Array.isArray(input.parts))
    return { role: 'user', parts: input.parts as Content['parts'] };
  throw new InvalidInputError(
    'message',
    'must be text or content. Call withInputSchema to ask with a value.',
  );
}

function createTypedMessage(
  agentName: string,
  schema: ToolParameters,
): (input: AskInput) => Content | string {
  const { parse } = tool({ name: 'input', description: 'The input.', parameters: schema });
  return (input) => {
    const parsed = isJsonObject(input) ? parse(input) : undefined;
    if (parsed?.ok === true) return JSON.stringify(parsed.value);
    throw new InvalidInputError(
      'message',
      `does not match the inputSchema of "${agentName}": ${parsed?.message ?? 'it must be an object.'}`,
    );
  };
}
