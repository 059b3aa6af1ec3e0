import { InvalidInputError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionNames, OptionTable } from '../core/index.ts';
import type { ContextCacheConfig } from '../models/index.ts';
import { CONTEXT_CACHE_NAMES } from '../models/provider/gemini-context-cache.ts';
import type { BaseAgent } from './agents/base-agent.ts';
import type { BasePlugin } from './plugins/base-plugin.ts';
import {
  checkEventsCompaction,
  EVENTS_COMPACTION_NAMES,
} from './compaction/events-compaction-config.ts';
import type { EventsCompactionConfig } from './compaction/events-compaction-config.ts';

/** What becomes of invocations that a crash interrupted; they go on unless said. ADK's `ResumabilityConfig`. */
export interface ResumabilityConfig {
  /** False: an invocation that a crash interrupted is closed with an error, and not gone on with. */
  readonly isResumable: boolean;
}

/**
 * What all sessions of an app share: the root agent, plugins before every agent's own callbacks, and what of long
 * conversations is cached and summarised. ADK's `App`.
 */
export interface AppConfig {
  /** Letters, digits, `_` and `-`; begins with a letter or `_`. Not `user`. */
  readonly name: string;
  readonly rootAgent: BaseAgent;
  /** Asked in this order. */
  readonly plugins?: readonly BasePlugin[];
  /** Gemini only, for models that the runner resolves by name. */
  readonly contextCacheConfig?: ContextCacheConfig | undefined;
  readonly resumabilityConfig?: ResumabilityConfig;
  /** Older events are summarised for the models; nothing is unless given. */
  readonly eventsCompactionConfig?: EventsCompactionConfig | undefined;
}

/** The options of `App`. */
export const APP_OPTIONS: OptionTable = optionTable<AppConfig>(
  'App',
  {
    name: true,
    rootAgent: true,
    plugins: true,
    contextCacheConfig: CONTEXT_CACHE_NAMES,
    resumabilityConfig: { isResumable: true } satisfies OptionNames<ResumabilityConfig>,
    eventsCompactionConfig: EVENTS_COMPACTION_NAMES,
  },
  { agent: 'rootAgent', appName: 'name' },
);

/** A root agent with what is shared by all its sessions. */
export class App {
  readonly name: string;
  readonly rootAgent: BaseAgent;
  readonly plugins: readonly BasePlugin[];
  readonly contextCacheConfig: ContextCacheConfig | undefined;
  readonly resumabilityConfig: ResumabilityConfig;
  readonly eventsCompactionConfig: EventsCompactionConfig | undefined;

  /** @throws InvalidInputError naming the field */
  constructor(config: AppConfig) {
    if (new.target === App) checkOptions(APP_OPTIONS, config);
    const { plugins = [], contextCacheConfig, eventsCompactionConfig } = config;
    checkAppName(config.name);
    checkPlugins(plugins);
    if (contextCacheConfig !== undefined) checkContextCache(contextCacheConfig);
    if (eventsCompactionConfig !== undefined) checkEventsCompaction(eventsCompactionConfig);
    this.name = config.name;
    this.rootAgent = config.rootAgent;
    this.plugins = plugins;
    this.contextCacheConfig = contextCacheConfig;
    this.eventsCompactionConfig = eventsCompactionConfig;
    this.resumabilityConfig = config.resumabilityConfig ?? { isResumable: true };
  }
}

function checkAppName(name: string): void {
  if (/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && name !== 'user') return;
  throw new InvalidInputError(
    'name',
    name === 'user'
      ? 'of an app may not be "user", which is an author.'
      : `of an app must be letters, digits, _ and -, and begin with a letter or _; it is "${name}".`,
  );
}

function checkPlugins(plugins: readonly BasePlugin[]): void {
  const names = plugins.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new InvalidInputError('plugins', `has two called "${twice}": give each its own name.`);
}

function checkContextCache({
  cacheIntervals = 10,
  ttlSeconds = 1800,
  minTokens = 0,
}: ContextCacheConfig): void {
  if (!Number.isInteger(cacheIntervals) || cacheIntervals < 1 || cacheIntervals > 100)
    throw new InvalidInputError('contextCacheConfig.cacheIntervals', 'must be from 1 to 100.');
  if (!(ttlSeconds > 0))
    throw new InvalidInputError('contextCacheConfig.ttlSeconds', 'must be above 0.');
  if (!(minTokens >= 0))
    throw new InvalidInputError('contextCacheConfig.minTokens', 'must be 0 or more.');
}
