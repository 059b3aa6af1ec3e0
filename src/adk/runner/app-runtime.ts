import { omitUndefined } from '../../core/internal.ts';
import { formatSessionKey } from '../../core/index.ts';
import type { Content, InvocationId, Seq, SessionKey } from '../../core/index.ts';
import { resolveModel } from '../../models/index.ts';
import type { Model } from '../../models/index.ts';
import { DEFAULT_CLOSE_TIMEOUT_MS } from '../../runtime/internal.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { App } from '../app/app.ts';
import { DEFAULT_PLUGIN_CLOSE_MS, openApp } from '../app/open-app.ts';
import type { OpenApp } from '../app/open-app.ts';
import { LiveHub } from '../../live/index.ts';
import { linkStart } from '../../live/internal.ts';
import type { LiveAgents } from '../live/live-agents.ts';
import { resolveLiveModel } from '../live/resolve-live-model.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { RunnerOptions } from './runner-options.ts';

/** No time limit in practice: a year. */
const MAX_PLUGINS_MS = 31_536_000_000;

/** A running app: its agents, in a runtime over the store of its sessions. */
export class AppRuntime {
  readonly runtime: Runtime;
  /** The connections of live sessions. Undefined if no agent has a live model. */
  readonly hub: LiveHub | undefined;
  readonly #app: OpenApp;
  /** Last log position, at the time this app was opened, of each session that a crash left running. */
  readonly #interrupted: ReadonlyMap<string, Seq>;

  /** @throws errors of compiling the agents, of opening their toolsets and of opening the store */
  static async open(app: App, options: RunnerOptions): Promise<AppRuntime> {
    const store = await options.sessionService.store();
    const { clock, artifactService, memoryService, credentialService, onError } = options;
    const { onWarning, pluginCloseTimeoutMs, interceptors } = options;
    const opened = await openApp(app, {
      store,
      appName: app.name,
      credentials: credentialService,
      clock,
      pluginCloseTimeoutMs,
      onWarning,
      onError,
      resolveModel: async (name) => resolveByName(name, app, options),
      resolveLiveModel: (name) => resolveLiveModel(name, options.env ?? {}),
    });
    const isLive = opened.agents.some(({ compiled }) => compiled.places.has(linkStart.name));
    const hub = isLive ? new LiveHub() : undefined;
    // Plugins are closed one after the other, each within its own time limit.
    const pluginsMs = app.plugins.length * (pluginCloseTimeoutMs ?? DEFAULT_PLUGIN_CLOSE_MS);
    const runtime = await openRuntime({
      closeTimeoutMs:
        DEFAULT_CLOSE_TIMEOUT_MS + Math.ceil(Math.max(0, Math.min(pluginsMs, MAX_PLUGINS_MS))),
      agents: [{ open: async () => opened }],
      store,
      app: app.name,
      ...omitUndefined({
        clock,
        artifacts: artifactService,
        memory: memoryService,
        onError,
        interceptors,
        live: hub,
      }),
    });
    return new AppRuntime(runtime, opened, hub);
  }

  private constructor(runtime: Runtime, app: OpenApp, hub: LiveHub | undefined) {
    this.runtime = runtime;
    this.hub = hub;
    this.#app = app;
    this.#interrupted = new Map(
      app.interrupted.map(({ key, lastSeq }) => [formatSessionKey(key), lastSeq]),
    );
  }

  get credentials(): CredentialService {
    return this.#app.credentials;
  }

  /** The agents that have a live model. */
  get live(): LiveAgents {
    return this.#app.live;
  }

  /** Returns the last log position of the session at the time this app was opened, if a crash had left it running. */
  logEndAtStart(key: SessionKey): Seq | undefined {
    return this.#interrupted.get(formatSessionKey(key));
  }

  cacheUserMessage(session: SessionKey, invocationId: InvocationId, content: Content): void {
    this.#app.userMessages.cache(session, invocationId, content);
  }

  async findUserContent(
    session: SessionKey,
    invocationId: InvocationId,
  ): Promise<Content | undefined> {
    return this.#app.userMessages.find(session, invocationId);
  }

  async close(): Promise<void> {
    await this.runtime.close();
  }
}

async function resolveByName(
  name: string,
  { contextCacheConfig }: App,
  { modelResolver, env = {} }: RunnerOptions,
): Promise<Model> {
  // Only Gemini has the cache.
  const contextCache = name.startsWith('gemini') ? contextCacheConfig : undefined;
  return modelResolver?.(name) ?? resolveModel(name, { env, ...omitUndefined({ contextCache }) });
}
