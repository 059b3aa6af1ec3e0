import {
  createEventActions,
  getFunctionResponses,
  InvalidInputError,
  deriveInvocationId,
  newMessageId,
  newSessionId,
  parseSessionKey,
  safeListener,
  toAdkEvent,
  toAdkSeconds,
  checkOptions,
  optionTable,
} from '../../core/index.ts';
import type {
  Content,
  Event,
  FunctionResponse,
  InvocationId,
  JsonObject,
  LogEvent,
  PartialEvent,
  PartialText,
  SessionKey,
  StateDelta,
  OptionTable,
} from '../../core/index.ts';
import { findCurrentWait } from '../../runtime/log/find-current-wait.ts';
import type { PendingCall, Session as RuntimeSession } from '../../runtime/index.ts';
import { SessionNotFoundError } from '../../store/store-errors.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { App } from '../app.ts';
import { PluginChain } from '../plugins/plugin-chain.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import { formatDebugLines } from './debug-lines.ts';
import { parseCredentialRequest, parseGrantedCredential } from '../tools/function-tool-context.ts';
import { ensureSession } from '../sessions/ensure-session.ts';
import { ingestMemory } from '../sessions/ingest-memory.ts';
import {
  followInvocation,
  findInvocation,
  filterInvocation,
  findQueuedMessage,
} from './invocation-log.ts';
import { saveMetadata, addCustomMetadata } from '../sessions/invocation-metadata.ts';
import { AppRuntime } from './app-runtime.ts';
import { InvocationScope } from './invocation-scope.ts';
import { rewindSession } from '../sessions/rewind-session.ts';
import { checkRunConfig } from '../contracts/run-config.ts';
import type { CheckedRunConfig, RunConfig } from '../contracts/run-config.ts';
import { RUN_PARAMS_OPTIONS, isAborted, parseNewMessage } from './run-params.ts';
import type { RunParams } from './run-params.ts';
import {
  LLM_CALLS_LIMIT,
  LlmCallsLimitExceededError,
  RunnerClosedError,
} from '../contracts/runner-errors.ts';
import { resolveApp, RUNNER_OPTIONS } from './runner-options.ts';
import type { RunnerOptions } from './runner-options.ts';
import type { SessionService } from '../sessions/session-service.ts';
import { createWaitingEvent } from './waiting-event.ts';

/** In whose session messages are tried out, and what is shown of it. A session that is not there is made. */
export interface RunDebugOptions {
  /** `debug_user_id` unless given. */
  readonly userId?: string;
  /** `debug_session_id` unless given. */
  readonly sessionId?: string;
  readonly runConfig?: RunConfig;
  /** Takes a line to show; nothing is shown without it, or when `quiet`. */
  readonly print?: (line: string) => void;
  readonly quiet?: boolean;
  /** Shows calls of tools and their results as well. */
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

/** What is followed of a log: one invocation, from where on, and what ends it. */
interface FollowOptions {
  readonly invocation: InvocationScope;
  readonly session: RuntimeSession;
  readonly row: SessionRow;
  readonly config: CheckedRunConfig;
  readonly stream: AsyncIterable<LogEvent | PartialEvent>;
  readonly includesUserMessage: boolean;
}

/**
 * Runs the agents of an app in its sessions: ADK's face of the runtime. An event that is not partial is committed before
 * it is yielded. Taking events slowly, or no more of them, slows and stops nothing.
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

  /** @throws InvalidInputError */
  constructor(options: RunnerOptions) {
    // A subclass may have options of its own.
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
   * Yields the events of an invocation: of a new message, of answers to calls that wait, or of one that is named. It ends
   * when the invocation is over or waits for someone.
   * @throws SessionNotFoundError, InvalidInputError, LlmCallsLimitExceededError, PluginError
   */
  async *runAsync(params: RunParams): AsyncGenerator<Event, void, void> {
    checkOptions(RUN_PARAMS_OPTIONS, params);
    if (params.appName !== undefined && params.appName !== this.appName)
      throw new InvalidInputError(
        'appName',
        `is "${params.appName}", and this runner runs "${this.appName}": leave it out.`,
      );
    const config = checkRunConfig(params.runConfig ?? {}, (message) => this.#warn(message));
    const appRuntime = await this.#openApp();
    const { row, session } = await this.#findSession(appRuntime, params);
    const stop = (): void =>
      void session.interrupt().catch((error: unknown) => {
        // A session that is gone has nothing to stop.
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

  /** All events of an invocation at once. */
  async run(params: RunParams): Promise<readonly Event[]> {
    const events: Event[] = [];
    for await (const event of this.runAsync(params)) events.push(event);
    return events;
  }

  /** Sends messages one after the other into a session for trying things out, and gives all their events. */
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

  /** Runs one message in a session of its own, which is deleted afterwards, its artifacts with it; those of the user stay. */
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
   * @throws InvalidInputError when there is no such invocation, or what is before it was summarised
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
        ...(artifactService !== undefined && { artifacts: artifactService }),
      },
      rewindBeforeInvocationId,
    );
  }

  /** Ends cleanly: what runs is stopped where it can be gone on with; toolsets and plugins are closed. The session service is its maker's. */
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
        'goes on with an invocation; a new message begins another: give one of them.',
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
      yield* this.#shortCircuit(params, invocation, message, replacement);
      return;
    }
    appRuntime.cacheUserMessage(session.key, invocationId, message);
    const turn = session.send(message, {
      messageId,
      ...(params.stateDelta !== undefined && { stateDelta: params.stateDelta }),
      runConfig: await this.#serializeRunConfig(config, session.key),
    });
    await turn.accepted;
    // An abort that came while the message was on its way found no invocation to end.
    if (isAborted(params)) await session.interrupt();
    const includesUserMessage = params.yieldUserMessage === true;
    yield* this.#follow(
      { invocation, session, row, config, stream: turn, includesUserMessage },
      store,
    );
  }

  /** What the agents' nets know of the run config: it is journaled with the message, and holds after a crash. */
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
      ...(recent !== undefined && { numRecentEvents: recent }),
    };
  }

  /** A plugin ended the invocation or answered in place of the agents: both messages are events, and no turn begins. */
  async *#shortCircuit(
    params: RunParams,
    invocation: InvocationScope,
    message: Content,
    answer: Content | undefined,
  ): AsyncGenerator<Event, void, void> {
    const address = { ...params, appName: this.appName, config: { numRecentEvents: 0 } };
    const { invocationId, runConfig } = invocation.context;
    const session = await this.sessionService.getSession(address);
    if (session === undefined) return;
    const event = (author: string, content: Content, stateDelta: StateDelta = {}): Event => ({
      id: newMessageId(),
      timestamp: toAdkSeconds(this.#options.clock?.now() ?? Date.now()),
      invocationId,
      author,
      content,
      actions: createEventActions({ stateDelta }),
    });
    const userEvent = await this.sessionService.appendEvent({
      session,
      event: event('user', message, params.stateDelta),
    });
    if (params.yieldUserMessage === true)
      yield addCustomMetadata(userEvent, runConfig.customMetadata);
    if (answer !== undefined) {
      const answerEvent = event(this.agent.name, { ...answer, role: 'model' });
      yield addCustomMetadata(
        await this.sessionService.appendEvent({ session, event: answerEvent }),
        runConfig.customMetadata,
      );
    }
    await this.#plugins.afterRun(invocation.context);
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
    for (const { id = '', response } of answers) {
      const waiting = pending.find(({ callId }) => callId === id);
      if (waiting?.needs === 'approval') {
        const approved = response['confirmed'] === true;
        await (
          approved ? session.approve(id, { fingerprint: waiting.fingerprint }) : session.deny(id)
        ).accepted;
      } else {
        const credentialRequest = parseCredentialRequest(waiting?.request);
        if (credentialRequest === undefined) await session.answer(id, response).accepted;
        else {
          await appRuntime.credentials.saveCredential(
            parseGrantedCredential(credentialRequest, response),
            session.key,
          );
          // The credential itself is nobody's in the log.
          await session.answer(id, { authorized: true }).accepted;
        }
      }
    }
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
      throw new InvalidInputError('newMessage', 'or invocationId must say what is to be run.');
    const { store } = appRuntime.runtime;
    let state = await findInvocation(store, session.key, invocationId);
    if (state === undefined) {
      const queued = await findQueuedMessage(store, session.key, invocationId);
      if (queued !== undefined) {
        yield* this.#followQueued(queued, invocationId, config, row, session, appRuntime);
        return;
      }
      // It may have had its turn in between.
      state = await findInvocation(store, session.key, invocationId);
    }
    if (state === undefined)
      throw new InvalidInputError(
        'invocationId',
        `"${invocationId}" names no invocation of session "${session.id}": take one from its events.`,
      );
    const from = appRuntime.logEndAtStart(session.key) ?? row.lastSeq;
    if (state.endedAt !== undefined && state.endedAt <= from) return;
    const content = await appRuntime.findUserContent(session.key, invocationId);
    const invocation = this.#createInvocation(session, invocationId, content, config, true);
    const { status } = await session.status();
    // It waits: there is nothing to go on with before someone answers.
    const stream =
      status === 'waiting'
        ? filterInvocation(session.events(from, { follow: false }), invocationId)
        : followInvocation({ session, store }, from, invocationId, []);
    yield* this.#follow(
      { invocation, session, row, config, stream, includesUserMessage: false },
      store,
    );
  }

  /** Follows an invocation whose message has not had its turn yet. */
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

  async *#follow(
    { invocation, session, row, config, stream, includesUserMessage }: FollowOptions,
    store: Store,
  ): AsyncGenerator<Event, void, void> {
    let limitExceeded = false;
    for await (const logged of stream) {
      if (logged.type === 'partial') {
        if (config.streamingMode === 'sse' && logged.kind !== 'progress')
          yield addCustomMetadata(this.#partialEvent(logged), config.customMetadata);
        continue;
      }
      if (logged.type === 'partial.reset') continue;
      const { invocationId } = invocation.context;
      if (logged.type === 'turn.waiting' && logged.invocationId !== invocationId) {
        const event = await createWaitingEvent(store, {
          row,
          waiting: logged,
          pending: await session.pending(),
          invocationId,
          rootAgent: this.agent.name,
        });
        yield addCustomMetadata(event, config.customMetadata);
        continue;
      }
      limitExceeded ||= logged.type === 'error' && logged.code === LLM_CALLS_LIMIT;
      const event = toAdkEvent(logged, row.uid);
      if (event === undefined || (logged.type === 'user.message' && !includesUserMessage)) continue;
      const tagged = addCustomMetadata(event, config.customMetadata);
      const replacement = await this.#plugins.firstResult('onEventCallback', (plugin) =>
        plugin.onEventCallback({ invocationContext: invocation.context, event: tagged }),
      );
      yield replacement ?? tagged;
    }
    const { memoryService } = this.#options;
    if (memoryService !== undefined) await ingestMemory(store, memoryService, row);
    await this.#plugins.afterRun(invocation.context);
    if (limitExceeded) throw new LlmCallsLimitExceededError(config.maxLlmCalls);
  }

  #partialEvent({ kind, text, invocationId, ...from }: PartialText): Event {
    const { author = this.agent.name, branch, nodeInfo } = from;
    return {
      id: newMessageId(),
      timestamp: toAdkSeconds(this.#options.clock?.now() ?? Date.now()),
      invocationId,
      author,
      ...(branch !== undefined && { branch }),
      ...(nodeInfo !== undefined && { nodeInfo }),
      content: {
        role: 'model',
        parts: [kind === 'thinking' ? { text, thought: true } : { text }],
      },
      actions: createEventActions(),
      partial: true,
    };
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

/**
 * The first call that a message answers. Each of its answers must be to a call that waits, and to another one: else
 * nothing is answered. @throws InvalidInputError
 */
function findAnsweredCall(
  answers: readonly FunctionResponse[],
  pending: readonly PendingCall[],
): PendingCall {
  const calls = answers.map(({ id }, index) => {
    const call = pending.find(({ callId }) => callId === id);
    if (call !== undefined && answers.findIndex((one) => one.id === id) === index) return call;
    const waiting = pending.map(({ callId }) => callId).join(', ') || '(none)';
    throw new InvalidInputError(
      'newMessage',
      `answers no call that waits: functionResponse ${index + 1} has the id "${id.slice(0, 200)}". Those that wait: ${waiting}.`,
    );
  });
  const [first] = calls;
  if (first === undefined) throw new InvalidInputError('newMessage', 'answers nothing.');
  return first;
}
