import type { OutcomesOption } from '../../agents/index.ts';
import { OUTCOMES_NAMES } from '../../agents/internal.ts';
import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionNames, OptionTable } from '../../core/index.ts';
import type { ContextCacheConfig } from '../../models/index.ts';
import { CONTEXT_CACHE_NAMES } from '../../models/provider/gemini-context-cache.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { AgentSource, AgentSourceHost, OpenAgentSource } from '../../runtime/index.ts';
import { hasCallback } from '../plugins/base-plugin.ts';
import type { BasePlugin } from '../plugins/base-plugin.ts';
import {
  checkEventsCompaction,
  EVENTS_COMPACTION_NAMES,
} from '../compaction/events-compaction-config.ts';
import type { AppConfig, AppSettings, ResumabilityConfig } from './app-config.ts';
import { openApp } from './open-app.ts';
import type { EventsCompactionConfig } from '../compaction/events-compaction-config.ts';

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
    outcomes: OUTCOMES_NAMES,
  },
  { agent: 'rootAgent', appName: 'name' },
);

/** The callbacks of plugins that a Runner calls around a run, outside of the agent's net, and what to use instead. */
const RUNNER_CALLBACKS = [
  ['onUserMessageCallback', 'change the request in beforeModelCallback'],
  ['beforeRunCallback', 'answer in beforeAgentCallback'],
  ['onEventCallback', 'observe events with an interceptor'],
  ['afterRunCallback', 'observe turn.ended with an interceptor'],
] as const;

/**
 * A root agent and the settings shared by all its sessions. Run it with a Runner, or pass it to `openRuntime` in
 * `agents`: there its agent has the app's name.
 */
export class App implements AgentSource, AppSettings {
  readonly name: string;
  readonly rootAgent: BaseAgent;
  readonly plugins: readonly BasePlugin[];
  readonly contextCacheConfig: ContextCacheConfig | undefined;
  readonly resumabilityConfig: ResumabilityConfig;
  readonly eventsCompactionConfig: EventsCompactionConfig | undefined;
  readonly outcomes: OutcomesOption | undefined;

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
    this.outcomes = config.outcomes;
    this.resumabilityConfig = config.resumabilityConfig ?? { isResumable: true };
  }

  /**
   * Opens the app as a source of agents. Called by `openRuntime`.
   * @throws InvalidInputError if a plugin has a callback that only a Runner calls
   * @throws errors of compiling the agents and of opening their toolsets
   */
  async open(host: AgentSourceHost): Promise<OpenAgentSource> {
    checkRuntimePlugins(this.plugins);
    const { contextCacheConfig: contextCache } = this;
    return openApp(this, {
      store: host.store,
      appName: host.app,
      clock: host.clock,
      onError: host.onError,
      resolveModel: async (name) =>
        host.resolveModel(
          name,
          // Only Gemini has the cache.
          contextCache === undefined || !name.startsWith('gemini') ? {} : { contextCache },
        ),
    });
  }
}

/** @throws InvalidInputError */
function checkRuntimePlugins(plugins: readonly BasePlugin[]): void {
  for (const plugin of plugins) {
    const found = RUNNER_CALLBACKS.find(([name]) => hasCallback(plugin, name));
    if (found === undefined) continue;
    const [callback, instead] = found;
    throw new InvalidInputError(
      'plugins',
      `"${plugin.name}" has ${callback}, which only a Runner calls: run the app with a Runner, or ${instead}.`,
    );
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
