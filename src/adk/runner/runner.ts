import { omitUndefined } from '../../core/internal.ts';
import {
  getFunctionResponses,
  InvalidInputError,
  deriveInvocationId,
  newMessageId,
  newSessionId,
  parseSessionKey,
  safeListener,
  checkOptions,
  optionTable,
} from '../../core/index.ts';
import type {
  Content,
  Event,
  FunctionResponse,
  InvocationId,
  JsonObject,
  SessionKey,
  OptionTable,
} from '../../core/index.ts';
import { findCurrentWait } from '../../runtime/internal.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { App } from '../app.ts';
import { PluginChain } from '../plugins/plugin-chain.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import { formatDebugLines } from './debug-lines.ts';
import { ensureSession } from '../sessions/ensure-session.ts';
import {
  followInvocation,
  findInvocation,
  filterInvocation,
  findQueuedMessage,
} from './invocation-log.ts';
import { saveMetadata } from '../sessions/invocation-metadata.ts';
import { AppRuntime } from './app-runtime.ts';
import { InvocationScope } from './invocation-scope.ts';
import { rewindSession } from '../sessions/rewind-session.ts';
import { checkRunConfig } from '../contracts/run-config.ts';
import type { CheckedRunConfig, RunConfig } from '../contracts/run-config.ts';
import { RUN_PARAMS_OPTIONS, isAborted, parseNewMessage } from './run-params.ts';
import type { RunParams } from './run-params.ts';
import { RunnerClosedError } from './runner-errors.ts';
import { RUNNER_OPTIONS } from './runner-options.ts';
import { resolveApp } from './resolve-app.ts';
import type { RunnerOptions } from './runner-options.ts';
import type { SessionService } from '../sessions/session-service.ts';
import { answerCalls, findAnsweredCall } from './answer-calls.ts';
import { followEvents } from './invocation-stream.ts';
import { appendReplacedInvocation } from './replaced-invocation.ts';
import type { FollowOptions } from './invocation-stream.ts';

/** The session that messages are sent to, and what is printed. The session is created if it does not exist. */
export interface RunDebugOptions {
  /** Default: `debug_user_id`. */
  readonly userId?: string;
  /** Default: `debug_session_id`. */
  readonly sessionId?: string;
  readonly runConfig?: RunConfig;
  /** Receives each line. Default: nothing is printed. Not called with `quiet`. */
  readonly print?: (line: string) => void;
  readonly quiet?: boolean;
  /** Also prints tool calls and their results. Default: false. */
  readonly verbose?: boolean;
}

/** The options of `runDebug`. */
export const RUN_DEBUG_OPTIONS: OptionTable = optionTable<RunDebugOptions>('runDebug', {
  userId: true,
  sessionId: true,
  runConfig: true,
  print: true,
  quiet: true,
  verbose: true,
});

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
  readonly #plugins: PluginChain;
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
    this.#plugins = new PluginChain(this.app.plugins);
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
        // A deleted session has nothing to stop.
        if (!(error instanceof SessionNotFoundError)) this.#options.onError?.(error, session.key);
      });
    if (isAborted(params)) {
      if (params.newMessage !== undefined) return;
      await session.interrupt();
    }
    params.abortSignal?.addEventListener('abort', stop, { once: true });
    try {
      if (params.newMessage === undefined)
        yield* this.#resume(params, config, row, session, appRuntime);
      else
        yield* this.#runMessage(
          params,
          parseNewMessage(params.newMessage),
          config,
          row,
          session,
          appRuntime,
        );
    } finally {
      params.abortSignal?.removeEventListener('abort', stop);
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
    let row = await runtime.store.find(key);
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

  async *#runMessage(
    params: RunParams,
    newMessage: Content,
    config: CheckedRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    const answers = getFunctionResponses(newMessage);
    if (answers.length > 0) {
      yield* this.#runAnswers(answers, config, row, session, appRuntime);
      return;
    }
    if (params.invocationId !== undefined)
      throw new InvalidInputError(
        'invocationId',
        'resumes an invocation, and a new message starts another: pass one of the two.',
      );
    const messageId = newMessageId();
    const invocationId = deriveInvocationId(messageId);
    const invocation = this.#createInvocation(session, invocationId, newMessage, config, false);
    const { context: invocationContext } = invocation;
    const message =
      (await this.#plugins.firstResult('onUserMessageCallback', (plugin) =>
        plugin.onUserMessageCallback({ invocationContext, userMessage: newMessage }),
      )) ?? newMessage;
    invocation.setUserContent(message);
    const replacement = await this.#plugins.firstResult('beforeRunCallback', (plugin) =>
      plugin.beforeRunCallback({ invocationContext }),
    );
    const { store } = appRuntime.runtime;
    await saveMetadata(store, row.uid, invocationId, config.customMetadata);
    await invocation.begin();
    if (replacement !== undefined || invocation.isEnded) {
      const { clock } = this.#options;
      yield* appendReplacedInvocation(
        params,
        invocation,
        { message, answer: replacement },
        {
          sessionService: this.sessionService,
          plugins: this.#plugins,
          appName: this.appName,
          rootAgent: this.agent.name,
          ...omitUndefined({ clock }),
        },
      );
      return;
    }
    appRuntime.cacheUserMessage(session.key, invocationId, message);
    const turn = session.send(message, {
      messageId,
      ...omitUndefined({ stateDelta: params.stateDelta }),
      runConfig: await this.#serializeRunConfig(config, session.key),
    });
    await turn.accepted;
    // An abort during the send found no invocation to interrupt.
    if (isAborted(params)) await session.interrupt();
    const includesUserMessage = params.yieldUserMessage === true;
    yield* this.#follow(
      { invocation, session, row, config, stream: turn, includesUserMessage },
      store,
    );
  }

  /**
   * The part of the run config that the agents' nets read. It is journaled with the message, so it also applies after a
   * crash.
   */
  async #serializeRunConfig(config: CheckedRunConfig, key: SessionKey): Promise<JsonObject> {
    const { maxLlmCalls, streamingMode, customMetadata, getSessionConfig } = config;
    const { afterTimestamp, numRecentEvents } = getSessionConfig;
    const recent =
      afterTimestamp === undefined
        ? numRecentEvents
        : (await this.sessionService.getSession({ ...key, config: getSessionConfig }))?.events
            .length;
    return {
      maxLlmCalls,
      streamingMode,
      customMetadata,
      ...omitUndefined({ numRecentEvents: recent }),
    };
  }

  async *#runAnswers(
    answers: readonly FunctionResponse[],
    config: CheckedRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    const pending = await session.pending();
    const call = findAnsweredCall(answers, pending);
    const { lastSeq } = await session.status();
    await answerCalls(answers, { pending, session, credentials: appRuntime.credentials });
    const { invocationId } = call;
    const content = await appRuntime.findUserContent(session.key, invocationId);
    const invocation = this.#createInvocation(session, invocationId, content, config, true);
    const answeredCallIds = answers.map(({ id }) => id ?? '');
    const { store } = appRuntime.runtime;
    const stream = followInvocation({ session, store }, lastSeq, invocationId, answeredCallIds);
    yield* this.#follow(
      { invocation, session, row, config, stream, includesUserMessage: false },
      store,
    );
  }

  async *#resume(
    { invocationId }: RunParams,
    config: CheckedRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    if (invocationId === undefined)
      throw new InvalidInputError(
        'newMessage',
        'is required, unless invocationId names an invocation to resume.',
      );
    const { store } = appRuntime.runtime;
    let state = await findInvocation(store, session.key, invocationId);
    if (state === undefined) {
      const queued = await findQueuedMessage(store, session.key, invocationId);
      if (queued !== undefined) {
        yield* this.#followQueued(queued, invocationId, config, row, session, appRuntime);
        return;
      }
      // Its turn may have started between the two reads.
      state = await findInvocation(store, session.key, invocationId);
    }
    if (state === undefined)
      throw new InvalidInputError(
        'invocationId',
        `"${invocationId}" is not an invocation of session "${session.id}": use the id of one of its events.`,
      );
    const from = appRuntime.logEndAtStart(session.key) ?? row.lastSeq;
    if (state.endedAt !== undefined && state.endedAt <= from) return;
    const content = await appRuntime.findUserContent(session.key, invocationId);
    const invocation = this.#createInvocation(session, invocationId, content, config, true);
    const { status } = await session.status();
    // A waiting invocation cannot continue before it is answered.
    const stream =
      status === 'waiting'
        ? filterInvocation(session.events(from, { follow: false }), invocationId)
        : followInvocation({ session, store }, from, invocationId, []);
    yield* this.#follow(
      { invocation, session, row, config, stream, includesUserMessage: false },
      store,
    );
  }

  /** Follows an invocation whose message still waits for its turn. */
  async *#followQueued(
    content: Content,
    invocationId: InvocationId,
    config: CheckedRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    const { store } = appRuntime.runtime;
    const invocation = this.#createInvocation(session, invocationId, content, config, true);
    const wait = await findCurrentWait(store, session.key);
    const from = wait === undefined ? row.lastSeq : wait.seq - 1;
    const stream = followInvocation({ session, store }, from, invocationId, []);
    yield* this.#follow(
      { invocation, session, row, config, stream, includesUserMessage: false },
      store,
    );
  }

  #follow(options: FollowOptions, store: Store): AsyncGenerator<Event, void, void> {
    const { clock, memoryService } = this.#options;
    return followEvents(options, {
      store,
      plugins: this.#plugins,
      rootAgent: this.agent.name,
      ...omitUndefined({ clock, memoryService }),
    });
  }

  #createInvocation(
    session: RuntimeSession,
    invocationId: InvocationId,
    userContent: Content | undefined,
    runConfig: CheckedRunConfig,
    started: boolean,
  ): InvocationScope {
    const { app } = this;
    const options = this.#options;
    return new InvocationScope(
      { app, options, session, invocationId, runConfig, userContent },
      started,
    );
  }

  #warn(message: string): void {
    this.#options.onWarning?.(message);
  }
}
