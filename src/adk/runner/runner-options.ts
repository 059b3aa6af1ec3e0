import { InvalidInputError, optionTable } from '../../core/index.ts';
import type { SessionKey, OptionTable } from '../../core/index.ts';
import type { Agent } from '../../agents/index.ts';
import { START } from '../../agents/workflow/workflow-definition.ts';
import type { Model } from '../../models/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Interceptor } from '../../runtime/index.ts';
import type { ArtifactService, MemoryService } from '../../tools/index.ts';
import { App } from '../app.ts';
import { BaseAgent } from '../agents/base-agent.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import { node } from '../workflow/node.ts';
import type { NodeLike } from '../workflow/node.ts';
import type { SessionService } from '../sessions/session-service.ts';
import { Workflow } from '../workflow/workflow.ts';

/** What a runner runs: exactly one of `app`, `agent` and `node`. */
export interface RunnerOptions {
  readonly app?: App;
  /** Needs `appName`. An agent made by a function such as `agent()` will do, without plugins. */
  readonly agent?: BaseAgent | Agent;
  /** The same, by ADK's other word for it; a function or a tool is a workflow of this one node. */
  readonly node?: NodeLike | Agent;
  readonly appName?: string;
  readonly sessionService: SessionService;
  readonly artifactService?: ArtifactService;
  /** Fed at the end of each invocation with what was said in it. */
  readonly memoryService?: MemoryService;
  readonly credentialService?: CredentialService;
  /** Makes the session of a message when there is none; unless said, that is an error. */
  readonly autoCreateSession?: boolean;
  /** Deprecated: give them to the app. */
  readonly plugins?: readonly BasePlugin[];
  /** How long each plugin's `close` is waited for; 5,000. */
  readonly pluginCloseTimeoutMs?: number;
  /** Where keys and addresses of models are found: `process.env`, for a program. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Makes a model of a name; by its name and `env` unless given. */
  readonly modelResolver?: (name: string) => Promise<Model>;
  readonly clock?: Clock;
  /** Watch the sessions at work, as `openTelemetry` of `petrichor/telemetry` does; those of plugins besides. */
  readonly interceptors?: readonly Interceptor[];
  /** Hears of what is deprecated, and of plugins that do not close. */
  readonly onWarning?: (message: string) => void;
  /** Hears what went wrong with a session beside any call of the runner. */
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** The options of `Runner`. */
export const RUNNER_OPTIONS: OptionTable = optionTable<RunnerOptions>(
  'Runner',
  {
    app: true,
    agent: true,
    node: true,
    appName: true,
    sessionService: true,
    artifactService: true,
    memoryService: true,
    credentialService: true,
    autoCreateSession: true,
    plugins: true,
    pluginCloseTimeoutMs: true,
    env: true,
    modelResolver: true,
    clock: true,
    interceptors: true,
    onWarning: true,
    onError: true,
  },
  {
    rootAgent: 'agent',
    name: 'appName',
    resumabilityConfig: 'app',
    contextCacheConfig: 'app',
    eventsCompactionConfig: 'app',
  },
);

/** The app that the options say. @throws InvalidInputError */
export function resolveApp(options: RunnerOptions): App {
  const { app, agent, node: nodeLike, appName, plugins, onWarning } = options;
  const roots = [app, agent, nodeLike].filter((one) => one !== undefined);
  if (roots.length !== 1)
    throw new InvalidInputError(
      'app',
      `, agent or node: exactly one of them says what is run; there are ${roots.length}.`,
    );
  if (plugins !== undefined)
    onWarning?.('Runner({ plugins }) is deprecated: give them to App({ plugins }).');
  if (app !== undefined) {
    if (plugins === undefined) return app;
    const { name, rootAgent, contextCacheConfig, resumabilityConfig, eventsCompactionConfig } = app;
    return new App({
      name,
      rootAgent,
      plugins: [...app.plugins, ...plugins],
      contextCacheConfig,
      resumabilityConfig,
      eventsCompactionConfig,
    });
  }
  const root = agent ?? nodeLike;
  if (root === undefined || appName === undefined)
    throw new InvalidInputError('appName', 'is required with agent and node.');
  return new App({ name: appName, rootAgent: toRootAgent(root, appName), plugins: plugins ?? [] });
}

function toRootAgent(root: NodeLike | Agent, appName: string): BaseAgent {
  if (root instanceof BaseAgent) return root;
  if (typeof root === 'object' && 'compiled' in root) return new NetAgent(root);
  const rootNode = node(root);
  const name = rootNode.name === appName ? `${appName}_workflow` : appName;
  return new Workflow({ name, edges: [[START, rootNode]] });
}

/** An agent that is a net already. */
class NetAgent extends BaseAgent {
  readonly #agent: Agent;

  constructor(agent: Agent) {
    super({ name: agent.name, description: agent.description });
    this.#agent = agent;
  }

  override async compile({ plugins }: Parameters<BaseAgent['compile']>[0]): Promise<Agent> {
    if (plugins.length === 0) return this.#agent;
    throw new InvalidInputError(
      'plugins',
      `cannot be put around "${this.name}", which is a net already: make it with new LlmAgent().`,
    );
  }
}
