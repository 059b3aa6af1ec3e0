import { omitUndefined } from '../../core/internal.ts';
import {
  deriveInvocationId,
  getFunctionResponses,
  InvalidInputError,
  newMessageId,
} from '../../core/index.ts';
import type {
  Content,
  Event,
  FunctionResponse,
  InvocationId,
  JsonObject,
  SessionKey,
} from '../../core/index.ts';
import { findCurrentWait, findReportedCalls } from '../../runtime/internal.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { CheckedRunConfig } from '../contracts/run-config.ts';
import { saveMetadata } from '../sessions/invocation-metadata.ts';
import { answerCalls, findAnsweredCall, toCallAnswers } from './answer-calls.ts';
import type { AppRuntime } from './app-runtime.ts';
import {
  filterInvocation,
  findInvocation,
  findQueuedMessage,
  followInvocation,
} from './invocation-log.ts';
import { InvocationScope } from './invocation-scope.ts';
import { followEvents } from './invocation-stream.ts';
import type { FollowOptions } from './invocation-stream.ts';
import { appendReplacedInvocation } from './replaced-invocation.ts';
import { isAborted } from './run-params.ts';
import type { RunParams } from './run-params.ts';
import type { RunnerParts } from './runner-parts.ts';

/** Runs the invocations of an app: new messages, answers to waiting calls, and invocations that are resumed. */
export class InvocationRunner {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Runs a new message, or answers waiting calls when the message contains function responses. */
  async *runMessage(
    params: RunParams,
    newMessage: Content,
    config: CheckedRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    const answers = getFunctionResponses(newMessage);
    if (answers.length > 0 && !(await this.#areLateResults(answers, session, appRuntime))) {
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
      (await this.#parts.plugins.firstResult('onUserMessageCallback', (plugin) =>
        plugin.onUserMessageCallback({ invocationContext, userMessage: newMessage }),
      )) ?? newMessage;
    invocation.setUserContent(message);
    const replacement = await this.#parts.plugins.firstResult('beforeRunCallback', (plugin) =>
      plugin.beforeRunCallback({ invocationContext }),
    );
    const { store } = appRuntime.runtime;
    await saveMetadata(store, row.uid, invocationId, config.customMetadata);
    await invocation.begin();
    if (replacement !== undefined || invocation.isEnded) {
      const { clock } = this.#parts.options;
      yield* appendReplacedInvocation(
        params,
        invocation,
        { message, answer: replacement },
        {
          sessionService: this.#parts.options.sessionService,
          plugins: this.#parts.plugins,
          appName: this.#parts.app.name,
          rootAgent: this.#parts.app.rootAgent.name,
          ...omitUndefined({ clock }),
        },
      );
      return;
    }
    appRuntime.cacheUserMessage(session.key, invocationId, message);
    const { customMetadata } = config;
    const turn = session.send(message, {
      messageId,
      ...omitUndefined({
        stateDelta: params.stateDelta,
        metadata: Object.keys(customMetadata).length === 0 ? undefined : customMetadata,
      }),
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

  /** True if the answers are later results of long-running tools: a message with them starts an invocation. */
  async #areLateResults(
    answers: readonly FunctionResponse[],
    session: RuntimeSession,
    { runtime }: AppRuntime,
  ): Promise<boolean> {
    const ids = answers.map(({ id }) => id);
    const reported = await findReportedCalls(runtime.store, session.key, ids);
    return ids.every((id) => reported.some(({ callId }) => callId === id));
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
        : (
            await this.#parts.options.sessionService.getSession({
              ...key,
              config: getSessionConfig,
            })
          )?.events.length;
    return {
      maxLlmCalls,
      streamingMode,
      customMetadata,
      ...omitUndefined({ numRecentEvents: recent }),
    };
  }

  async *#runAnswers(
    responses: readonly FunctionResponse[],
    config: CheckedRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    const pending = await session.pending();
    const answers = toCallAnswers(responses, pending);
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
      { invocation, session, row, config, stream, includesUserMessage: false, from: lastSeq },
      store,
    );
  }

  /** Follows a named invocation, or one whose message is still queued. */
  async *resume(
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
    const { activity } = await session.status();
    // A waiting invocation cannot continue before it is answered.
    const stream =
      activity === 'waiting'
        ? filterInvocation(session.events(from, { follow: false }), invocationId)
        : followInvocation({ session, store }, from, invocationId, []);
    yield* this.#follow(
      { invocation, session, row, config, stream, includesUserMessage: false, from },
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
    const { clock, memoryService } = this.#parts.options;
    return followEvents(options, {
      store,
      plugins: this.#parts.plugins,
      rootAgent: this.#parts.app.rootAgent.name,
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
    return new InvocationScope(
      { ...this.#parts, session, invocationId, runConfig, userContent },
      started,
    );
  }
}
