import type { Agent } from '../agents/index.ts';
import { optionTable } from '../core/index.ts';
import type { SessionKey, OptionTable } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import type {
  AgentSource,
  Interceptor,
  ModelsOption,
  Observer,
  Quotas,
  SessionDispatcher,
  SessionAttachments,
} from '../runtime/index.ts';
import type { Durability, Store } from '../store/index.ts';
import type { ArtifactService, MemoryService } from '../tools/index.ts';
import { DEFINITION_NAMES } from './compilation/definition-options.ts';
import type { DefinitionOptions } from './compilation/definition-options.ts';

/**
 * Store, models, tools and limits of a managed runtime. All are optional. A definition that needs a missing service is
 * rejected with a MissingServiceError.
 */
export interface ManagedRuntimeOptions extends DefinitionOptions {
  /** Agents from code, and sources of agents, besides the stored definitions. Default: none. */
  readonly agents?: readonly (Agent | AgentSource)[];
  /**
   * Resolves the models that agents from code name, as in `openRuntime`. Default: by name, with the keys of `env`; without
   * `env`, with those of the process.
   */
  readonly models?: ModelsOption;
  /** A store that is passed open is not closed with the runtime. Default: `memory:`. */
  readonly store?: string | Store;
  /** Rejects a store that is less durable than this. */
  readonly durability?: Durability;
  /** Name of the application. Sessions of different applications are separate. */
  readonly app?: string;
  /** Maximum size of an input, in bytes of JSON. Default: 16 MiB. */
  readonly maxInputBytes?: number;
  /**
   * How long `close` waits for the sources of agents to close, in milliseconds. `onError` receives a CloseTimeoutError for
   * each that takes longer. Default: 10,000.
   */
  readonly closeTimeoutMs?: number;
  /**
   * How much the sessions of each user, and of all users together, may use. A server stores its workspaces as users.
   * Default: no limits.
   */
  readonly quotas?: Quotas;
  /** Sends sessions to the processes of a fleet: see `RuntimeOptions`. The runtime closes it. */
  readonly dispatcher?: SessionDispatcher;
  /** Ingests each turn when it ends. Tools can search it. */
  readonly memory?: MemoryService;
  /** Where tools keep files. */
  readonly artifacts?: ArtifactService;
  /**
   * Deletes what is kept for a session outside the store, such as its working folder, after the session has stopped.
   * Also called for the sessions of called agents. If it fails, or the process dies, it is called again at the next
   * deletion of the session or when the next runtime opens.
   */
  readonly onDelete?: (session: SessionKey) => Promise<void>;
  /** The live connections of the sessions that this runtime owns: a `LiveHub`. Without it, live agents cannot connect. */
  readonly live?: SessionAttachments;
  readonly clock?: Clock;
  /** Maximum number of events that may wait for a stream reader before the stream is closed. Default: 1,000. */
  readonly maxBuffered?: number;
  readonly observers?: readonly Observer[];
  /** Observe the running sessions: context propagation, steps and calls. */
  readonly interceptors?: readonly Interceptor[];
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** The options of `openManagedRuntime`. */
export const MANAGED_RUNTIME_OPTIONS: OptionTable = optionTable<ManagedRuntimeOptions>(
  'openManagedRuntime',
  {
    ...DEFINITION_NAMES,
    agents: true,
    live: true,
    models: true,
    maxInputBytes: true,
    closeTimeoutMs: true,
    store: true,
    durability: true,
    app: true,
    quotas: true,
    dispatcher: true,
    memory: true,
    artifacts: true,
    onDelete: true,
    clock: true,
    maxBuffered: true,
    observers: true,
    interceptors: true,
    onError: true,
  },
);
