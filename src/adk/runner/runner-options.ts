import { optionTable } from '../../core/index.ts';
import type { SessionKey, OptionTable } from '../../core/index.ts';
import type { Agent } from '../../agents/index.ts';
import type { Model } from '../../models/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Interceptor } from '../../runtime/index.ts';
import type { ArtifactService, MemoryService } from '../../tools/index.ts';
import type { App } from '../app/app.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { NodeLike } from '../workflow/node.ts';
import type { SessionService } from '../sessions/session-service.ts';

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
    pluginCloseTimeout: 'pluginCloseTimeoutMs',
    name: 'appName',
    resumabilityConfig: 'app',
    contextCacheConfig: 'app',
    eventsCompactionConfig: 'app',
  },
);
