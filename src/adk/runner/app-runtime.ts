import { interruptIn } from '../../agents/index.ts';
import {
  createEventActions,
  formatSessionKey,
  newMessageId,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Content, Event, InvocationId, Seq, SessionKey } from '../../core/index.ts';
import { resolveModel } from '../../models/resolve-model.ts';
import type { Model } from '../../models/index.ts';
import { systemClock } from '../../net/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { toolset } from '../../tools/index.ts';
import type { Tool, Toolset } from '../../tools/index.ts';
import type { App } from '../app.ts';

import { createCompactionNet } from '../compaction/compaction-net.ts';
import type { CompileContext, ManagedToolset } from '../tools/compile-context.ts';
import { InMemoryCredentialService } from '../tools/credential-service.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { RunnerOptions } from './runner-options.ts';
import { eventIn, withAppendedEvents } from '../sessions/appended-events.ts';
import { createSummarizer } from './create-summarizer.ts';

const DEFAULT_PLUGIN_CLOSE_MS = 5000;
const MAX_INTERRUPTED = 10_000;
const RECENT_EVENTS = 500;
const MAX_CACHED_MESSAGES = 1000;

/** The services of a running app. */
interface AppServices {
  readonly runtime: Runtime;
  readonly userMessages: UserMessages;
  readonly credentials: CredentialService;
}

/** A running app: its agents compiled to nets, in a runtime over the store of its sessions. */
export class AppRuntime {
  readonly runtime: Runtime;
  readonly credentials: CredentialService;
  readonly #app: App;
  readonly #options: RunnerOptions;
  readonly #toolsets: readonly ManagedToolset[];
  readonly #userMessages: UserMessages;
  /** Last log position, at the time this app was opened, of each session that a crash left running. */
  readonly #interrupted: ReadonlyMap<string, Seq>;

  /** @throws errors of compiling the agents, of opening their toolsets and of opening the store */
  static async open(app: App, options: RunnerOptions): Promise<AppRuntime> {
    const toolsets: ManagedToolset[] = [];
    const store = await options.sessionService.store();
    const userMessages = new UserMessages(store);
    const { credentialService: credentials = new InMemoryCredentialService() } = options;
    try {
      const compileContext = createCompileContext(
        app,
        options,
        { userMessages, credentials },
        toolsets,
      );
      const root = await app.rootAgent.compile(compileContext);
      const { eventsCompactionConfig: compactionConfig } = app;
      const extraNets =
        compactionConfig === undefined
          ? []
          : [
              createCompactionNet(
                compactionConfig,
                await createSummarizer(app, store, compileContext.resolveModel),
              ),
            ];
      const interrupted = await findInterruptedSessions(store, app.name);
      if (!app.resumabilityConfig.isResumable) await closeInterruptedSessions(store, interrupted);
      const { clock, artifactService, memoryService, onError } = options;
      const runtime = await openRuntime({
        agents: [withAppendedEvents(app.name, root, extraNets)],
        store,
        app: app.name,
        ...(clock !== undefined && { clock }),
        ...(artifactService !== undefined && { artifacts: artifactService }),
        ...(memoryService !== undefined && { memory: memoryService }),
        ...(onError !== undefined && { onError }),
        interceptors: [
          ...(options.interceptors ?? []),
          ...app.plugins.flatMap(({ interceptor }) => interceptor ?? []),
        ],
      });
      return new AppRuntime(
        app,
        options,
        { runtime, userMessages, credentials },
        toolsets,
        interrupted,
      );
    } catch (error) {
      await Promise.allSettled(toolsets.map(async (one) => one.close()));
      throw error;
    }
  }

  private constructor(
    app: App,
    options: RunnerOptions,
    { runtime, userMessages, credentials }: AppServices,
    toolsets: readonly ManagedToolset[],
    interrupted: readonly SessionRow[],
  ) {
    this.#app = app;
    this.#options = options;
    this.runtime = runtime;
    this.credentials = credentials;
    this.#toolsets = toolsets;
    this.#userMessages = userMessages;
    this.#interrupted = new Map(
      interrupted.map(({ key, lastSeq }) => [formatSessionKey(key), lastSeq]),
    );
  }

  /** Returns the last log position of the session at the time this app was opened, if a crash had left it running. */
  logEndAtStart(key: SessionKey): Seq | undefined {
    return this.#interrupted.get(formatSessionKey(key));
  }

  cacheUserMessage(session: SessionKey, invocationId: InvocationId, content: Content): void {
    this.#userMessages.cache(session, invocationId, content);
  }

  async findUserContent(
    session: SessionKey,
    invocationId: InvocationId,
  ): Promise<Content | undefined> {
    return this.#userMessages.find(session, invocationId);
  }

  async close(): Promise<void> {
    await this.runtime.close();
    const { onWarning, onError } = this.#options;
    const toolsets = await Promise.allSettled(this.#toolsets.map(async (one) => one.close()));
    for (const closed of toolsets) if (closed.status === 'rejected') onError?.(closed.reason);
    for (const plugin of this.#app.plugins) {
      // Also catches a synchronous throw, so the remaining plugins are closed.
      const closed = await this.#closesInTime(Promise.resolve().then(async () => plugin.close()));
      if (!closed)
        onWarning?.(
          `Plugin "${plugin.name}" did not close in time. The runner no longer waits for it.`,
        );
    }
  }

  async #closesInTime(closing: Promise<void>): Promise<boolean> {
    const {
      clock = systemClock,
      pluginCloseTimeoutMs = DEFAULT_PLUGIN_CLOSE_MS,
      onError,
    } = this.#options;
    let cancel = (): void => {};
    // The clock's timers do not keep the process alive, so this one must.
    const hold = setInterval(() => {}, 1000);
    const late = new Promise<boolean>((resolve) => {
      cancel = clock.at(clock.now() + pluginCloseTimeoutMs, () => resolve(false));
    });
    const closed = closing.then(
      () => true,
      (error: unknown) => {
        onError?.(error);
        return true;
      },
    );
    return Promise.race([closed, late]).finally(() => {
      cancel();
      clearInterval(hold);
    });
  }
}

/** The messages that started invocations. Recent ones are cached, others are read from the log. */
class UserMessages {
  readonly #store: Store;
  readonly #recent = new Map<InvocationId, Content>();

  constructor(store: Store) {
    this.#store = store;
  }

  cache(_session: SessionKey, invocationId: InvocationId, content: Content): void {
    this.#recent.set(invocationId, content);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > MAX_CACHED_MESSAGES && oldest !== undefined)
      this.#recent.delete(oldest);
  }

  async find(session: SessionKey, invocationId: InvocationId): Promise<Content | undefined> {
    const recent = this.#recent.get(invocationId);
    if (recent !== undefined) return recent;
    const row = await this.#store.find(session);
    if (row === undefined) return undefined;
    for (const from of [Math.max(0, row.lastSeq - RECENT_EVENTS), 0]) {
      for await (const event of this.#store.read(session, from)) {
        if (event.type !== 'user.message' || event.invocationId !== invocationId) continue;
        this.cache(session, invocationId, event.content);
        return event.content;
      }
    }
    return undefined;
  }
}

function createCompileContext(
  app: App,
  options: RunnerOptions,
  { userMessages, credentials }: Omit<AppServices, 'runtime'>,
  toolsets: ManagedToolset[],
): CompileContext {
  const { env = {}, contextCache } = { ...options, contextCache: app.contextCacheConfig };
  const byName = async (name: string): Promise<Model> =>
    options.modelResolver?.(name) ??
    resolveModel(name, {
      env,
      ...(contextCache !== undefined && name.startsWith('gemini') && { contextCache }),
    });
  const context: CompileContext = {
    plugins: app.plugins,
    credentials,
    resolveModel: async (model) => (typeof model === 'string' ? byName(model) : model),
    findUserContent: async (session, invocationId) => userMessages.find(session, invocationId),
    openToolset: async (managed): Promise<Toolset> => {
      toolsets.push(managed);
      const tools: Tool[] = [];
      for (const one of await managed.getTools())
        tools.push('compileTool' in one ? await one.compileTool(context) : one);
      return toolset(managed.name, tools);
    },
  };
  return context;
}

/** Finds the sessions that were running when their process died. */
async function findInterruptedSessions(
  store: Store,
  appName: string,
): Promise<readonly SessionRow[]> {
  const rows = await store.findRunnable({
    owner: 'nobody',
    appName,
    agents: [appName],
    now: 0,
    limit: MAX_INTERRUPTED,
  });
  return rows.filter(({ status }) => status === 'running');
}

/** Closes interrupted invocations, for an app that does not resume them. */
async function closeInterruptedSessions(store: Store, rows: readonly SessionRow[]): Promise<void> {
  for (const { key, updatedAt } of rows) {
    let invocationId: InvocationId | undefined;
    for await (const event of store.read(key, 0))
      if (event.type === 'turn.started') ({ invocationId } = event);
    if (invocationId === undefined) continue;
    const event: Event = {
      id: newMessageId(),
      timestamp: toAdkSeconds(updatedAt),
      invocationId,
      author: 'system',
      errorCode: 'not_resumable',
      errorMessage:
        'The process died during this invocation, and the app does not resume invocations: send the message again.',
      actions: createEventActions(),
    };
    await store.inject(
      key,
      { place: interruptIn.name, value: { invocationId } },
      `interrupt:${invocationId}`,
    );
    await store.inject(
      key,
      {
        place: eventIn.name,
        value: { event, stateDelta: {} },
      },
      `signal:${eventIn.name}:closed:${invocationId}`,
    );
  }
}
