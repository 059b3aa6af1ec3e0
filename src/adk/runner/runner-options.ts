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

/** Options of `Runner`: exactly one of `app`, `agent` and `node` is required. */
export interface RunnerOptions {
  readonly app?: App;
  /** Requires `appName`. May be the result of a function such as `agent()`, without plugins. */
  readonly agent?: BaseAgent | Agent;
  /** Same as `agent`, under ADK's other name for it. A function or a tool is run as a workflow with this one node. */
  readonly node?: NodeLike | Agent;
  readonly appName?: string;
  readonly sessionService: SessionService;
  readonly artifactService?: ArtifactService;
  /** Ingests each invocation when it ends. */
  readonly memoryService?: MemoryService;
  readonly credentialService?: CredentialService;
  /** Creates the session of a message if it does not exist. Default: false; a missing session is an error. */
  readonly autoCreateSession?: boolean;
  /** Deprecated: pass them to the app. */
  readonly plugins?: readonly BasePlugin[];
  /** Maximum time to wait for each plugin's `close`, in milliseconds. Default: 5,000. */
  readonly pluginCloseTimeoutMs?: number;
  /** Where API keys and endpoints of models are read from, for example `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Resolves a model name. Default: by the name's provider, with the keys of `env`. */
  readonly modelResolver?: (name: string) => Promise<Model>;
  readonly clock?: Clock;
  /**
   * Observe the running sessions, as `openTelemetry` of `petrichor/telemetry` does. Used in addition to those of
   * plugins.
   */
  readonly interceptors?: readonly Interceptor[];
  /** Called for deprecated options and for plugins that do not close in time. */
  readonly onWarning?: (message: string) => void;
  /** Called for errors of a session outside of any call of the runner. */
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

/**
 * Creates the app from the options.
 * @throws InvalidInputError if the options contradict each other
 */
export function resolveApp(options: RunnerOptions): App {
  const { app, agent, node: nodeLike, appName, plugins, onWarning } = options;
  const roots = [app, agent, nodeLike].filter((one) => one !== undefined);
  if (roots.length !== 1)
    throw new InvalidInputError(
      'app',
      `pass exactly one of app, agent and node; there are ${roots.length}.`,
    );
  if (plugins !== undefined)
    onWarning?.('Runner({ plugins }) is deprecated: pass them to App({ plugins }).');
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

/** An agent that is already compiled to a net. */
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
      `cannot be added to "${this.name}", which is already compiled: create it with new LlmAgent().`,
    );
  }
}
