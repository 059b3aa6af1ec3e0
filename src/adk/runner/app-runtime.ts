import { omitUndefined } from '../../core/internal.ts';
import { formatSessionKey } from '../../core/index.ts';
import type { Content, InvocationId, Seq, SessionKey } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import type { SessionRow } from '../../store/index.ts';
import type { App } from '../app.ts';
import { createCompactionNet } from '../compaction/compaction-net.ts';
import type { ManagedToolset } from '../tools/compile-context.ts';
import { InMemoryCredentialService } from '../tools/credential-service.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { RunnerOptions } from './runner-options.ts';
import { createSummarizer } from './create-summarizer.ts';
import { UserMessages } from './user-messages.ts';
import { findInterruptedSessions, closeInterruptedSessions } from './interrupted-sessions.ts';
import { createCompileContext } from './create-compile-context.ts';

const DEFAULT_PLUGIN_CLOSE_MS = 5000;

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
        userMessages,
        credentials,
        toolsets,
      );
      const root = await app.rootAgent.compile(compileContext);
      const { eventsCompactionConfig: compactionConfig } = app;
      const agent =
        compactionConfig === undefined
          ? root
          : root.extend([
              createCompactionNet(
                compactionConfig,
                await createSummarizer(app, store, compileContext.resolveModel),
              ),
            ]);
      const interrupted = await findInterruptedSessions(store, app.name);
      if (!app.resumabilityConfig.isResumable) await closeInterruptedSessions(store, interrupted);
      const { clock, artifactService, memoryService, onError } = options;
      const runtime = await openRuntime({
        agents: [{ ...agent, name: app.name, author: root.name }],
        store,
        app: app.name,
        ...omitUndefined({ clock, artifacts: artifactService, memory: memoryService, onError }),
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
