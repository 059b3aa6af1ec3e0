import type { Agent } from '../agents/index.ts';
import { omitUndefined } from '../core/internal.ts';
import { DEFAULT_MAX_INPUT_BYTES, InvalidInputError, optionTable } from '../core/index.ts';
import type { OptionTable, SessionKey } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import type { Store } from '../store/index.ts';
import type { ArtifactService, MemoryService, Toolset, ToolServices } from '../tools/index.ts';
import type { Interceptor } from './interceptors/interceptor.ts';
import type { SessionAttachments } from './hosting/session-attachment.ts';
import type { Quotas } from './quotas/quotas.ts';
import type { AgentSource } from './sources/agent-source.ts';
import type { ModelsOption } from './sources/named-models.ts';
import type { Observer } from './interceptors/observer.ts';
import type { SessionDispatcher } from './scheduling/session-dispatcher.ts';

/** Default of the option `closeTimeoutMs`. */
export const DEFAULT_CLOSE_TIMEOUT_MS = 10_000;

/** Default of the option `app`. */
export const DEFAULT_APP = 'petrichor';

/** The options of {@link openRuntime}: the agents, the store, the services of tools, and hooks for telemetry. */
export interface RuntimeOptions {
  /**
   * The agents that sessions can use: what `agent()` and the other kinds return, and sources of agents, such as an ADK
   * `App`. The agents they call as tools are added. Failover covers the sessions of these agents; if a source finds
   * agents by name, it covers those of every agent.
   */
  readonly agents: readonly (Agent | AgentSource)[];
  /** A store, or its URL. The runtime closes a store that it opened from a URL, no other. Default: `memory:`. */
  readonly store?: string | Store;
  /**
   * Resolves the models that agents name, such as `agent({ model: 'gpt-5' })`: the options of `resolveModel`, or a
   * function that returns the model of `{ provider, model }`. Default: `{ env: process.env }`.
   */
  readonly models?: ModelsOption;
  /** The application's name. Applications share neither sessions nor state. Default: `petrichor`. */
  readonly app?: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Artifacts of tools and instructions. Without it, a tool that uses artifacts fails. */
  readonly artifacts?: ArtifactService;
  /** Memory across sessions. Without it, a tool that searches memory fails. */
  readonly memory?: MemoryService;
  /** The live connections of the sessions that this runtime owns: a `LiveHub`. Without it, live agents cannot connect. */
  readonly live?: SessionAttachments;
  /**
   * Sends sessions to the processes of a fleet: see `petrichor/restate`. The runtime closes it. Default: the processes
   * that share the store find sessions with work themselves.
   */
  readonly dispatcher?: SessionDispatcher;
  /** Toolsets that the runtime closes when it is closed. Every other toolset is closed by the code that opened it. */
  readonly toolsets?: readonly (Toolset & AsyncDisposable)[];
  /**
   * Largest message, answer or other input, in bytes of JSON. A larger one is refused with InputTooLargeError.
   * Default: 16 MiB.
   */
  readonly maxInputBytes?: number;
  /**
   * How long `close` waits for the sources of agents, and for `toolsets`, to close, in milliseconds. `onError` receives a
   * CloseTimeoutError for each that takes longer. Default: 10,000.
   */
  readonly closeTimeoutMs?: number;
  /**
   * How much the sessions of each user, and of the app, may use. A turn that a quota stops ends with `budget_reached`.
   * Default: no limits.
   */
  readonly quotas?: Quotas;
  /** Called in this order after every committed step. They run before `interceptors`. */
  readonly observers?: readonly Observer[];
  /** Hooks around messages, committed steps and calls. The first is the outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** Receives errors of the sessions that this runtime owns, and errors thrown by observers and interceptors. */
  readonly onError?: (error: unknown, key?: SessionKey) => void;
}

/** The options of `openRuntime`. */
export const RUNTIME_OPTIONS: OptionTable = optionTable<RuntimeOptions>('openRuntime', {
  closeTimeoutMs: true,
  maxInputBytes: true,
  agents: true,
  store: true,
  models: true,
  app: true,
  clock: true,
  artifacts: true,
  memory: true,
  live: true,
  dispatcher: true,
  toolsets: true,
  quotas: true,
  observers: true,
  interceptors: true,
  onError: true,
});

export function toToolServices({ artifacts, memory }: RuntimeOptions): ToolServices {
  return omitUndefined({ artifacts, memory });
}

/** @throws InvalidInputError */
export function parseMaxInputBytes({
  maxInputBytes = DEFAULT_MAX_INPUT_BYTES,
}: RuntimeOptions): number {
  return parsePositive('maxInputBytes', maxInputBytes);
}

/** @throws InvalidInputError */
export function parseCloseTimeoutMs({
  closeTimeoutMs = DEFAULT_CLOSE_TIMEOUT_MS,
}: Pick<RuntimeOptions, 'closeTimeoutMs'>): number {
  return parsePositive('closeTimeoutMs', closeTimeoutMs);
}

function parsePositive(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidInputError(name, `must be an integer above 0; it is ${value}.`);
}
