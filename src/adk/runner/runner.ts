import { omitUndefined } from '../../core/internal.ts';
import {
  InvalidInputError,
  newSessionId,
  parseSessionKey,
  safeListener,
  checkOptions,
} from '../../core/index.ts';
import type { Event, InvocationId, SessionKey } from '../../core/index.ts';
import { IllegalTransitionError } from '../../runtime/index.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { SessionRow } from '../../store/index.ts';
import type { App } from '../app/app.ts';
import { PluginChain } from '../plugins/plugin-chain.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import { formatDebugLines } from './debug-lines.ts';
import { ensureSession } from '../sessions/ensure-session.ts';
import { AppRuntime } from './app-runtime.ts';
import { InvocationRunner } from './invocation-runner.ts';
import { LiveRunner } from './live-runner.ts';
import { rewindSession } from '../sessions/rewind-session.ts';
import { checkLiveRunConfig } from '../contracts/live-run-config.ts';
import { checkRunConfig } from '../contracts/run-config.ts';
import { RUN_DEBUG_OPTIONS } from './run-debug-options.ts';
import type { RunDebugOptions } from './run-debug-options.ts';
import { RUN_PARAMS_OPTIONS, isAborted, parseNewMessage } from './run-params.ts';
import type { RunParams } from './run-params.ts';
import { checkRunLiveParams } from './run-live-params.ts';
import type { RunLiveParams } from './run-live-params.ts';
import { RunnerClosedError } from './runner-errors.ts';
import { RUNNER_OPTIONS } from './runner-options.ts';
import { resolveApp } from './resolve-app.ts';
import type { RunnerOptions } from './runner-options.ts';
import type { SessionService } from '../sessions/session-service.ts';

/**
 * Runs the agents of an app in its sessions. Events that are not partial are committed before they are yielded. A
 * caller that reads slowly, or stops reading, does not slow or stop the invocation.
 */
export class Runner implements AsyncDisposable {
  readonly appName: string;
  readonly app: App;
  readonly agent: BaseAgent;
  readonly sessionService: SessionService;
  readonly #options: RunnerOptions;
  readonly #invocations: InvocationRunner;
  readonly #live: LiveRunner;
  #appRuntime: Promise<AppRuntime> | undefined;
  #closed = false;

  /** @throws InvalidInputError if the options are invalid */
  constructor(options: RunnerOptions) {
    // A subclass may have additional options.
    if (new.target === Runner) checkOptions(RUNNER_OPTIONS, options);
    this.#options = {
      ...options,
      onError: safeListener('onError', options.onError),
      onWarning: safeListener('onWarning', options.onWarning),
    };
    this.app = resolveApp(options);
    this.appName = this.app.name;
    const parts = {
      app: this.app,
      options: this.#options,
      plugins: new PluginChain(this.app.plugins),
    };
    this.#invocations = new InvocationRunner(parts);
    this.#live = new LiveRunner(parts);
    this.agent = this.app.rootAgent;
    this.sessionService = options.sessionService;
  }

  /**
   * Yields the events of an invocation: for a new message, for answers to waiting calls, or for a named invocation.
   * Ends when the invocation is over or waits for an answer.
   * @throws SessionNotFoundError if the session does not exist and `autoCreateSession` is off
   * @throws InvalidInputError if a parameter is invalid
   * @throws LlmCallsLimitExceededError if the invocation used all its model calls
   * @throws PluginError if a plugin's callback throws
   */
  async *runAsync(params: RunParams): AsyncGenerator<Event, void, void> {
    checkOptions(RUN_PARAMS_OPTIONS, params);
    if (params.appName !== undefined && params.appName !== this.appName)
      throw new InvalidInputError(
        'appName',
        `is "${params.appName}", but this runner runs "${this.appName}": omit it.`,
      );
    const config = checkRunConfig(params.runConfig ?? {}, (message) => this.#warn(message));
    const appRuntime = await this.#openApp();
    const { row, session } = await this.#findSession(appRuntime, params);
    const stop = (): void =>
      void session.interrupt().catch((error: unknown) => {
        // A deleted or closed session has nothing to stop.
        const isGone =
          error instanceof SessionNotFoundError || error instanceof IllegalTransitionError;
        if (!isGone) this.#options.onError?.(error, session.key);
      });
    if (isAborted(params)) {
      if (params.newMessage !== undefined) return;
      await session.interrupt();
    }
    params.abortSignal?.addEventListener('abort', stop, { once: true });
    try {
      if (params.newMessage === undefined)
        yield* this.#invocations.resume(params, config, row, session, appRuntime);
      else
        yield* this.#invocations.runMessage(
          params,
          parseNewMessage(params.newMessage),
          config,
          row,
          session,
          appRuntime,
        );
    } finally {
      params.abortSignal?.removeEventListener('abort', stop);
      await this.#syncAfterRun(session.key);
    }
  }

  /**
   * Runs a live session: the user speaks and writes through the queue at any time, and so do the agents. Yields partial
   * events with audio, text and transcripts in progress, and the committed events of every turn. Ends when the queue is
   * closed and no turn runs, or when the connection is lost. Each turn has its own `invocationId`.
   * @throws SessionNotFoundError if the session does not exist and `autoCreateSession` is off
   * @throws InvalidInputError, UnknownFieldError if a parameter is invalid
   * @throws UnsupportedFeatureError if no agent has a live model, or if an agent of the app runs in `runAsync` only
   * @throws LiveSessionBusyError if the session has a live session in this process
   * @throws ModelError if the model refuses connections
   * @throws LlmCallsLimitExceededError if the live session used all its model calls
   * @throws PluginError if a plugin's callback throws
   * @example
   * const queue = new LiveRequestQueue();
   * queue.sendContent({ role: 'user', parts: [{ text: 'Hello' }] });
   * for await (const event of runner.runLive({ userId, sessionId, liveRequestQueue: queue })) { … }
   */
  async *runLive(params: RunLiveParams): AsyncGenerator<Event, void, void> {
    checkRunLiveParams(params, this.appName);
    const config = checkLiveRunConfig(params.runConfig ?? {}, (message) => this.#warn(message));
    this.#live.check(config);
    const appRuntime = await this.#openApp();
    const { row, session } = await this.#findSession(appRuntime, params);
    try {
      yield* this.#live.run(params, config, row, session, appRuntime);
    } finally {
      await this.#syncAfterRun(session.key);
    }
  }

  /** Collects all events of `runAsync`. */
  async run(params: RunParams): Promise<readonly Event[]> {
    const events: Event[] = [];
    for await (const event of this.runAsync(params)) events.push(event);
    return events;
  }

  /** Sends messages one after the other into a debug session and returns all events. */
  async runDebug(
    messages: string | readonly string[],
    options: RunDebugOptions = {},
  ): Promise<readonly Event[]> {
    checkOptions(RUN_DEBUG_OPTIONS, options);
    const { userId = 'debug_user_id', sessionId = 'debug_session_id', quiet, verbose } = options;
    const address = { appName: this.appName, userId, sessionId };
    const print = quiet === true ? undefined : options.print;
    await ensureSession(this.sessionService, address);
    const events: Event[] = [];
    for (const newMessage of typeof messages === 'string' ? [messages] : messages) {
      print?.(`User > ${newMessage}`);
      const { runConfig = {} } = options;
      for await (const event of this.runAsync({ userId, sessionId, newMessage, runConfig })) {
        events.push(event);
        for (const line of formatDebugLines(event, verbose === true)) print?.(line);
      }
    }
    return events;
  }

  /**
   * Runs one message in a new session. The session and its artifacts are deleted afterwards; artifacts of the user are
   * kept.
   */
  async *runEphemeral(
    params: Omit<RunParams, 'sessionId' | 'invocationId'>,
  ): AsyncGenerator<Event, void, void> {
    const sessionId = newSessionId();
    const address = { appName: this.appName, userId: params.userId, sessionId };
    await this.sessionService.createSession(address);
    try {
      yield* this.runAsync({ ...params, sessionId });
    } finally {
      await this.sessionService.deleteSession(address);
      if (!this.#closed)
        await (await this.#openApp()).runtime.delete(sessionId, { user: params.userId });
      await this.#deleteArtifacts(address);
    }
  }

  /**
   * Takes conversation, session state and session artifacts back to before an invocation. The log keeps everything.
   * @throws InvalidInputError if there is no such invocation, or if the events before it were summarized
   */
  async rewind({
    userId,
    sessionId,
    rewindBeforeInvocationId,
  }: {
    readonly userId: string;
    readonly sessionId: string;
    readonly rewindBeforeInvocationId: InvocationId;
  }): Promise<void> {
    const appRuntime = await this.#openApp();
    const { session } = await this.#findSession(appRuntime, { userId, sessionId });
    const { artifactService } = this.#options;
    await rewindSession(
      session,
      {
        store: appRuntime.runtime.store,
        ...omitUndefined({ artifacts: artifactService }),
      },
      rewindBeforeInvocationId,
    );
  }

  /**
   * Stops running sessions where they can be resumed, and closes toolsets and plugins. Does not close the session
   * service, which belongs to the caller.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const appRuntime = await this.#appRuntime?.catch(() => undefined);
    await appRuntime?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #deleteArtifacts(session: SessionKey): Promise<void> {
    const { artifactService } = this.#options;
    for (const name of (await artifactService?.list(session)) ?? [])
      if (!name.startsWith('user:')) await artifactService?.delete({ session, name });
  }

  async #openApp(): Promise<AppRuntime> {
    if (this.#closed) throw new RunnerClosedError();
    this.#appRuntime ??= AppRuntime.open(this.app, this.#options).catch((error: unknown) => {
      this.#appRuntime = undefined;
      throw error;
    });
    return this.#appRuntime;
  }

  async #findSession(
    { runtime }: AppRuntime,
    { userId, sessionId }: Pick<RunParams, 'userId' | 'sessionId'>,
  ): Promise<{ readonly row: SessionRow; readonly session: RuntimeSession }> {
    const key = parseSessionKey({ appName: this.appName, userId, sessionId });
    const isKnown = (await this.sessionService.sync?.(key)) ?? true;
    let row = isKnown ? await runtime.store.find(key) : undefined;
    if (row === undefined && this.#options.autoCreateSession === true) {
      await ensureSession(this.sessionService, key);
      row = await runtime.store.find(key);
    }
    if (row === undefined) throw new SessionNotFoundError(key, false);
    return {
      row,
      session: await runtime.session(sessionId, { user: userId, agent: this.appName }),
    };
  }

  /** What a run added is durable in the store. If it cannot be sent now, the next use of the session sends it. */
  async #syncAfterRun(key: SessionKey): Promise<void> {
    try {
      await this.sessionService.sync?.(key);
    } catch (error) {
      this.#options.onError?.(error, key);
    }
  }

  #warn(message: string): void {
    this.#options.onWarning?.(message);
  }
}
