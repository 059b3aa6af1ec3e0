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

/** A root agent and the settings shared by all its sessions. */
export class App {
  readonly name: string;
  readonly rootAgent: BaseAgent;
  readonly plugins: readonly BasePlugin[];
  readonly contextCacheConfig: ContextCacheConfig | undefined;
  readonly resumabilityConfig: ResumabilityConfig;
  readonly eventsCompactionConfig: EventsCompactionConfig | undefined;

  /** @throws InvalidInputError naming the invalid field */
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
      ? 'must not be "user": events of users have this author.'
      : `must consist of letters, digits, _ and -, and start with a letter or _; it is "${name}".`,
  );
}

function checkPlugins(plugins: readonly BasePlugin[]): void {
  const names = plugins.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined)
    throw new InvalidInputError('plugins', `must have unique names; "${duplicate}" occurs twice.`);
}

function checkContextCache({
  cacheIntervals = 10,
  ttlSeconds = 1800,
  minTokens = 0,
}: ContextCacheConfig): void {
  if (!Number.isInteger(cacheIntervals) || cacheIntervals < 1 || cacheIntervals > 100)
    throw new InvalidInputError(
      'contextCacheConfig.cacheIntervals',
      `must be from 1 to 100; it is ${cacheIntervals}.`,
    );
  if (!(ttlSeconds > 0))
    throw new InvalidInputError(
      'contextCacheConfig.ttlSeconds',
      `must be above 0; it is ${ttlSeconds}.`,
    );
  if (!(minTokens >= 0))
    throw new InvalidInputError(
      'contextCacheConfig.minTokens',
      `must be 0 or more; it is ${minTokens}.`,
    );
}
