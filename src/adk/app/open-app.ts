import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { assertNoCycle } from '../agents/base-agent.ts';
import type { Agent } from '../../agents/index.ts';
import type { Model } from '../../models/index.ts';
import { closeInTime } from '../../runtime/internal.ts';
import type { OpenAgentSource } from '../../runtime/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import { createCompactionNet } from '../compaction/compaction-net.ts';
import { InMemoryCredentialService } from '../tools/credential-service.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import type { ManagedToolset } from '../tools/compile-context.ts';
import type { LiveModel } from '../../live/index.ts';
import type { LiveAgents } from '../live/live-agents.ts';
import type { AppSettings } from './app-config.ts';
import { createCompileContext } from './create-compile-context.ts';
import { createSummarizer } from './create-summarizer.ts';
import { closeInterruptedSessions, findInterruptedSessions } from './interrupted-sessions.ts';
import { UserMessages } from './user-messages.ts';

/** Default of the option `pluginCloseTimeoutMs`. */
export const DEFAULT_PLUGIN_CLOSE_MS = 5000;

/** What an app is opened with. */
export interface OpenAppOptions {
  /** Where the app's sessions are. */
  readonly store: Store;
  /** The application name of its sessions. */
  readonly appName: string;
  /** Resolves a model by its name. */
  readonly resolveModel: (name: string) => Promise<Model>;
  /** The live model of a name, if it is one. Default: none. */
  readonly resolveLiveModel?: ((name: string) => LiveModel | undefined) | undefined;
  /** Default: credentials in memory. */
  readonly credentials?: CredentialService | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Maximum time to wait for each plugin's `close`, in milliseconds. Default: 5,000. */
  readonly pluginCloseTimeoutMs?: number | undefined;
  /** Called for plugins that do not close in time. Default: nothing. */
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** An app that is open: its agent, compiled, and what its runner reads. */
export interface OpenApp extends OpenAgentSource {
  readonly userMessages: UserMessages;
  readonly credentials: CredentialService;
  /** The agents that have a live model. */
  readonly live: LiveAgents;
  /** The sessions that a crash had left running when the app was opened. */
  readonly interrupted: readonly SessionRow[];
}

/**
 * Compiles the agents of an app, and opens their toolsets. The agent has the app's name, because the sessions of an app
 * are run by the agent of that name.
 * @throws errors of compiling the agents and of opening their toolsets
 */
export async function openApp(app: AppSettings, options: OpenAppOptions): Promise<OpenApp> {
  const { store, appName } = options;
  const { credentials = new InMemoryCredentialService() } = options;
  const toolsets: ManagedToolset[] = [];
  const userMessages = new UserMessages(store);
  try {
    const parts = { userMessages, credentials, toolsets };
    const { agent, live } = await compileApp(app, options, parts);
    const interrupted = await findInterruptedSessions(store, { appName, agentName: app.name });
    if (!app.resumabilityConfig.isResumable) await closeInterruptedSessions(store, interrupted);
    return {
      agents: [agent],
      interceptors: app.plugins.flatMap(({ interceptor }) => interceptor ?? []),
      close: async () => {
        await closeToolsets(toolsets, options);
        await closePlugins(app, options);
      },
      userMessages,
      credentials,
      live,
      interrupted,
    };
  } catch (error) {
    await closeToolsets(toolsets, {});
    throw error;
  }
}

async function compileApp(
  app: AppSettings,
  { store, resolveModel, resolveLiveModel = () => undefined }: OpenAppOptions,
  parts: {
    readonly userMessages: UserMessages;
    readonly credentials: CredentialService;
    readonly toolsets: ManagedToolset[];
  },
): Promise<{ readonly agent: Agent; readonly live: LiveAgents }> {
  const context = createCompileContext(app, { ...parts, resolveModel, resolveLiveModel });
  assertNoCycle(app.rootAgent);
  const root = await app.rootAgent.compile(context);
  const { eventsCompactionConfig: compaction, outcomes } = app;
  const extensions =
    compaction === undefined
      ? []
      : [createCompactionNet(compaction, await createSummarizer(app, store, context.resolveModel))];
  const isExtended = extensions.length > 0 || outcomes !== undefined;
  const extended = isExtended ? root.extend({ extensions, outcomes }) : root;
  const agent = context.live.extend(extended);
  return { agent: { ...agent, name: app.name, author: root.name }, live: context.live };
}

async function closeToolsets(
  toolsets: readonly ManagedToolset[],
  { onError }: Pick<OpenAppOptions, 'onError'>,
): Promise<void> {
  const closing = await Promise.allSettled(toolsets.map(async (one) => one.close()));
  for (const closed of closing) if (closed.status === 'rejected') onError?.(closed.reason);
}

async function closePlugins({ plugins }: AppSettings, options: OpenAppOptions): Promise<void> {
  const { clock = systemClock, pluginCloseTimeoutMs = DEFAULT_PLUGIN_CLOSE_MS, onError } = options;
  for (const plugin of plugins) {
    const closed = await closeInTime(async () => plugin.close(), {
      clock,
      timeoutMs: pluginCloseTimeoutMs,
      onError: (error) => onError?.(error),
    });
    if (!closed)
      options.onWarning?.(
        `Plugin "${plugin.name}" did not close in time. The runner no longer waits for it.`,
      );
  }
}
