import { interruptIn } from '../agents/index.ts';
import { eventActions, formatSessionKey, newMessageId, toAdkSeconds } from '../core/index.ts';
import type { Content, Event, InvocationId, Seq, SessionKey } from '../core/index.ts';
import { resolveModel } from '../models/resolve-model.ts';
import type { Model } from '../models/index.ts';
import { systemClock } from '../net/index.ts';
import { openRuntime } from '../runtime/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { SessionRow, Store } from '../store/index.ts';
import { toolset } from '../tools/index.ts';
import type { Tool, Toolset } from '../tools/index.ts';
import type { App } from './app.ts';

import { compaction } from './compaction.ts';
import type { Compilation, OpenedByRunner } from './compilation.ts';
import { InMemoryCredentialService } from './credential-service.ts';
import type { CredentialService } from './credential-service.ts';
import type { RunnerOptions } from './runner-options.ts';
import { eventIn, inSessionsOf } from './session-events.ts';
import { summariserOf } from './summarise.ts';

const DEFAULT_PLUGIN_CLOSE_MS = 5000;
const MAX_LEFT_BEHIND = 10_000;
const RECENT_EVENTS = 500;
const MAX_REMEMBERED = 1000;

/** What an app that runs is made of. */
interface Opened {
  readonly runtime: Runtime;
  readonly messages: Messages;
  readonly credentials: CredentialService;
}

/** An app that runs: its agents as nets, in a runtime over the store of its sessions. */
export class OpenedApp {
  readonly runtime: Runtime;
  readonly credentials: CredentialService;
  readonly #app: App;
  readonly #options: RunnerOptions;
  readonly #toolsets: readonly OpenedByRunner[];
  readonly #messages: Messages;
  /** Where the logs of sessions ended that were left running, when this app was opened. */
  readonly #left: ReadonlyMap<string, Seq>;

  /** @throws what compiling the agents, opening their toolsets and opening the store throw */
  static async open(app: App, options: RunnerOptions): Promise<OpenedApp> {
    const toolsets: OpenedByRunner[] = [];
    const store = await options.sessionService.store();
    const messages = new Messages(store);
    const { credentialService: credentials = new InMemoryCredentialService() } = options;
    try {
      const compilation = compilationOf(app, options, { messages, credentials }, toolsets);
      const root = await app.rootAgent.compile(compilation);
      const { eventsCompactionConfig: compacted } = app;
      const beside =
        compacted === undefined
          ? []
          : [compaction(compacted, await summariserOf(app, store, compilation.modelOf))];
      const left = await leftBehind(store, app.name);
      if (!app.resumabilityConfig.isResumable) await closeAll(store, left);
      const { clock, artifactService, memoryService, onError } = options;
      const runtime = await openRuntime({
        agents: [inSessionsOf(app.name, root, beside)],
        store,
        app: app.name,
        ...(clock !== undefined && { clock }),
        ...(artifactService !== undefined && { artifacts: artifactService }),
        ...(memoryService !== undefined && { memory: memoryService }),
        ...(onError !== undefined && { onError }),
        instruments: [
          ...(options.instruments ?? []),
          ...app.plugins.flatMap(({ instrument }) => instrument ?? []),
        ],
      });
      return new OpenedApp(app, options, { runtime, messages, credentials }, toolsets, left);
    } catch (error) {
      await Promise.allSettled(toolsets.map(async (one) => one.close()));
      throw error;
    }
  }

  private constructor(
    app: App,
    options: RunnerOptions,
    { runtime, messages, credentials }: Opened,
    toolsets: readonly OpenedByRunner[],
    left: readonly SessionRow[],
  ) {
    this.#app = app;
    this.#options = options;
    this.runtime = runtime;
    this.credentials = credentials;
    this.#toolsets = toolsets;
    this.#messages = messages;
    this.#left = new Map(left.map(({ key, lastSeq }) => [formatSessionKey(key), lastSeq]));
  }

  /** Where the session's log ended before this app took it up, if a crash had left it running. */
  seenBefore(key: SessionKey): Seq | undefined {
    return this.#left.get(formatSessionKey(key));
  }

  remember(session: SessionKey, invocationId: InvocationId, content: Content): void {
    this.#messages.remember(session, invocationId, content);
  }

  async userContentOf(
    session: SessionKey,
    invocationId: InvocationId,
  ): Promise<Content | undefined> {
    return this.#messages.find(session, invocationId);
  }

  async close(): Promise<void> {
    await this.runtime.close();
    const { onWarning, onError } = this.#options;
    const toolsets = await Promise.allSettled(this.#toolsets.map(async (one) => one.close()));
    for (const closed of toolsets) if (closed.status === 'rejected') onError?.(closed.reason);
    for (const plugin of this.#app.plugins) {
      // Also one that throws at once: those after it are closed all the same.
      const closed = await this.#inTime(Promise.resolve().then(async () => plugin.close()));
      if (!closed)
        onWarning?.(`Plugin "${plugin.name}" did not close in time: it was left to itself.`);
    }
  }

  async #inTime(closing: Promise<void>): Promise<boolean> {
    const {
      clock = systemClock,
      pluginCloseTimeoutMs = DEFAULT_PLUGIN_CLOSE_MS,
      onError,
    } = this.#options;
    let cancel = (): void => {};
    // The machine's timers do not hold the process: this one has to.
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

/** The messages that began invocations: those of now at hand, others from the log. */
class Messages {
  readonly #store: Store;
  readonly #recent = new Map<InvocationId, Content>();

  constructor(store: Store) {
    this.#store = store;
  }

  remember(_session: SessionKey, invocationId: InvocationId, content: Content): void {
    this.#recent.set(invocationId, content);
    const [oldest] = this.#recent.keys();
    if (this.#recent.size > MAX_REMEMBERED && oldest !== undefined) this.#recent.delete(oldest);
  }

  async find(session: SessionKey, invocationId: InvocationId): Promise<Content | undefined> {
    const recent = this.#recent.get(invocationId);
    if (recent !== undefined) return recent;
    const row = await this.#store.find(session);
    if (row === undefined) return undefined;
    for (const from of [Math.max(0, row.lastSeq - RECENT_EVENTS), 0]) {
      for await (const event of this.#store.read(session, from)) {
        if (event.type !== 'user.message' || event.invocationId !== invocationId) continue;
        this.remember(session, invocationId, event.content);
        return event.content;
      }
    }
    return undefined;
  }
}

function compilationOf(
  app: App,
  options: RunnerOptions,
  { messages, credentials }: Omit<Opened, 'runtime'>,
  opened: OpenedByRunner[],
): Compilation {
  const { env = {}, contextCache } = { ...options, contextCache: app.contextCacheConfig };
  const byName = async (name: string): Promise<Model> =>
    options.modelResolver?.(name) ??
    resolveModel(name, {
      env,
      ...(contextCache !== undefined && name.startsWith('gemini') && { contextCache }),
    });
  const compilation: Compilation = {
    plugins: app.plugins,
    credentials,
    modelOf: async (model) => (typeof model === 'string' ? byName(model) : model),
    userContentOf: async (session, invocationId) => messages.find(session, invocationId),
    open: async (given): Promise<Toolset> => {
      opened.push(given);
      const tools: Tool[] = [];
      for (const one of await given.getTools())
        tools.push('compileTool' in one ? await one.compileTool(compilation) : one);
      return toolset(given.name, tools);
    },
  };
  return compilation;
}

/** Sessions that a process left running when it died. */
async function leftBehind(store: Store, appName: string): Promise<readonly SessionRow[]> {
  const rows = await store.needingWork({
    owner: 'nobody',
    appName,
    agents: [appName],
    now: 0,
    limit: MAX_LEFT_BEHIND,
  });
  return rows.filter(({ status }) => status === 'running');
}

/** Closes what a crash interrupted, for an app that does not go on with it. */
async function closeAll(store: Store, rows: readonly SessionRow[]): Promise<void> {
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
        'The process died during this invocation, and the app does not go on with such: send the message again.',
      actions: eventActions(),
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
