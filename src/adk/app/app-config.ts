import type { OutcomesOption } from '../../agents/index.ts';
import type { ContextCacheConfig } from '../../models/index.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { EventsCompactionConfig } from '../compaction/events-compaction-config.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';

/** What happens to invocations interrupted by a crash. ADK's `ResumabilityConfig`. */
export interface ResumabilityConfig {
  /** True: an interrupted invocation is resumed. False: it is closed with an error. Default: true. */
  readonly isResumable: boolean;
}

/**
 * What all sessions of an app share: the root agent, plugins that run before each agent's own callbacks, prompt caching
 * and compaction. ADK's `App`.
 */
export interface AppConfig {
  /** Letters, digits, `_` and `-`; starts with a letter or `_`. Must not be `user`. */
  readonly name: string;
  readonly rootAgent: BaseAgent;
  /** Called in this order. */
  readonly plugins?: readonly BasePlugin[];
  /** Gemini only, for models that the runner resolves by name. */
  readonly contextCacheConfig?: ContextCacheConfig | undefined;
  readonly resumabilityConfig?: ResumabilityConfig;
  /** When older events are summarized for the models. Default: never. */
  readonly eventsCompactionConfig?: EventsCompactionConfig | undefined;
  /**
   * Adds outcome rounds to its sessions: see `outcomes` of `agent()`. Default of the grader: the root agent's own model.
   * Default: none.
   */
  readonly outcomes?: OutcomesOption | undefined;
}

/** The settings of an app, with their defaults. */
export interface AppSettings extends AppConfig {
  readonly plugins: readonly BasePlugin[];
  readonly contextCacheConfig: ContextCacheConfig | undefined;
  readonly resumabilityConfig: ResumabilityConfig;
  readonly eventsCompactionConfig: EventsCompactionConfig | undefined;
  readonly outcomes: OutcomesOption | undefined;
}
