import {
  AdkEventMapper,
  createEventActions,
  deriveInvocationId,
  InvalidInputError,
  newMessageId,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Content, Event, LogEvent, PartialEvent } from '../../core/index.ts';
import { UnsupportedFeatureError } from '../../models/index.ts';
import { systemClock } from '../../net/index.ts';
import { ingestMemory } from '../../runtime/internal.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import type { SessionRow } from '../../store/index.ts';
import { LoopAgent } from '../agents/loop-agent.ts';
import { ParallelAgent } from '../agents/parallel-agent.ts';
import type { BaseAgent } from '../agents/base-agent.ts';
import type { LiveRunConfig } from '../contracts/live-run-config.ts';
import { addCustomMetadata, saveMetadata } from '../sessions/invocation-metadata.ts';
import { Workflow } from '../workflow/workflow.ts';
import { answerCalls, findAnsweredCall, toCallAnswers } from './answer-calls.ts';
import type { AppRuntime } from './app-runtime.ts';
import { InvocationScope } from './invocation-scope.ts';
import { toPartialTextEvent } from './invocation-stream.ts';
import { toTurnEndEvent } from './live-events.ts';
import { LiveRecorder } from './live-recorder.ts';
import { isStreamResult, LiveRun } from './live-run.ts';
import { activeLiveSessions } from '../live/active-live-sessions.ts';
import type { RunLiveParams } from './run-live-params.ts';
import { LLM_CALLS_LIMIT, LlmCallsLimitExceededError } from './runner-errors.ts';
import type { RunnerParts } from './runner-parts.ts';

/** Runs the live sessions of an app. */
export class LiveRunner {
  readonly #parts: RunnerParts;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  /** Checks what a live session needs. @throws InvalidInputError, UnsupportedFeatureError */
  check({ saveLiveBlob }: LiveRunConfig): void {
    assertLiveAgents(this.#parts.app.rootAgent);
    if (saveLiveBlob && this.#parts.options.artifactService === undefined)
      throw new InvalidInputError(
        'runConfig.saveLiveBlob',
        'needs an artifactService: pass one to the runner.',
      );
  }

  /** Yields the events of a live session until it is over. */
  async *run(
    params: RunLiveParams,
    config: LiveRunConfig,
    row: SessionRow,
    session: RuntimeSession,
    appRuntime: AppRuntime,
  ): AsyncGenerator<Event, void, void> {
    const { hub } = appRuntime;
    if (hub === undefined)
      throw new UnsupportedFeatureError(
        this.#parts.app.rootAgent.name,
        'runLive',
        'no agent has a live model: set model or liveModel to one, such as gemini-live-2.5-flash',
      );
    const { clock = systemClock, artifactService, onError } = this.#parts.options;
    const invocation = this.#createInvocation(session, config);
    const live = new LiveRun({
      session,
      store: appRuntime.runtime.store,
      hub,
      queue: params.liveRequestQueue,
      config: { ...config, handle: params.liveSessionResumptionHandle ?? config.handle },
      clock,
      rootAgent: this.#parts.app.rootAgent.name,
      recorder:
        config.saveLiveBlob && artifactService !== undefined
          ? new LiveRecorder({ artifacts: artifactService, session: session.key, clock })
          : undefined,
      from: appRuntime.logEndAtStart(session.key) ?? row.lastSeq,
      answerCalls: async (responses) => {
        const pending = await session.pending();
        const answers = toCallAnswers(responses, pending);
        findAnsweredCall(answers, pending);
        await answerCalls(answers, { pending, session, credentials: appRuntime.credentials });
      },
      screenMessage: async (message) => this.#screenMessage(invocation, message),
      warn: (message) => this.#parts.options.onWarning?.(message),
      onError: (error) => onError?.(error, session.key),
    });
    activeLiveSessions.add(row.uid, session.key.sessionId, live.active);
    const stop = (): void => live.interrupt();
    params.abortSignal?.addEventListener('abort', stop, { once: true });
    try {
      if (params.abortSignal?.aborted === true) return;
      const replacement = await this.#parts.plugins.firstResult('beforeRunCallback', (plugin) =>
        plugin.beforeRunCallback({ invocationContext: invocation.context }),
      );
      if (replacement !== undefined) {
        yield await this.#appendAnswer(session, invocation, replacement);
        return;
      }
      await invocation.begin();
      if (invocation.isEnded) return;
      yield* this.#events(live, { invocation, config, row, appRuntime });
    } finally {
      params.abortSignal?.removeEventListener('abort', stop);
      await live.close();
      activeLiveSessions.remove(row.uid);
    }
    const { memoryService } = this.#parts.options;
    if (memoryService !== undefined)
      await ingestMemory(appRuntime.runtime.store, memoryService, row);
    await this.#parts.plugins.afterRun(invocation.context);
  }

  async *#events(
    live: LiveRun,
    {
      invocation,
      config,
      row,
      appRuntime,
    }: {
      readonly invocation: InvocationScope;
      readonly config: LiveRunConfig;
      readonly row: SessionRow;
      readonly appRuntime: AppRuntime;
    },
  ): AsyncGenerator<Event, void, void> {
    const { customMetadata, maxLlmCalls } = config;
    const { store } = appRuntime.runtime;
    const mapper = new AdkEventMapper(row.uid);
    for await (const item of live.items()) {
      if ('partial' in item) {
        yield addCustomMetadata(item.partial, customMetadata);
        continue;
      }
      const { logged } = item;
      if (logged.type === 'turn.started')
        await saveMetadata(store, row.uid, logged.invocationId, customMetadata);
      for (const event of this.#toEvents(logged, row, live.stream.agentName, mapper))
        yield await this.#showToPlugins(invocation, addCustomMetadata(event, customMetadata));
      if (logged.type === 'error' && logged.code === LLM_CALLS_LIMIT)
        throw new LlmCallsLimitExceededError(maxLlmCalls);
    }
  }

  #toEvents(
    logged: LogEvent | PartialEvent,
    { uid }: SessionRow,
    agentName: string,
    mapper: AdkEventMapper,
  ): readonly Event[] {
    switch (logged.type) {
      case 'partial':
        return logged.kind === 'progress'
          ? []
          : [toPartialTextEvent(logged, agentName, this.#parts.options.clock)];
      case 'partial.reset':
        return [];
      case 'turn.ended':
        return [...mapper.endTurn(), toTurnEndEvent(logged, uid, agentName)];
      case 'user.message':
        // The caller has sent it.
        return logged.transcript === true || isStreamResult(logged) ? mapper.add(logged) : [];
      default:
        return mapper.add(logged);
    }
  }

  async #showToPlugins(invocation: InvocationScope, event: Event): Promise<Event> {
    if (event.partial === true) return event;
    const replacement = await this.#parts.plugins.firstResult('onEventCallback', (plugin) =>
      plugin.onEventCallback({ invocationContext: invocation.context, event }),
    );
    return replacement ?? event;
  }

  async #screenMessage(invocation: InvocationScope, userMessage: Content): Promise<Content> {
    const { context: invocationContext } = invocation;
    invocation.setUserContent(userMessage);
    const message =
      (await this.#parts.plugins.firstResult('onUserMessageCallback', (plugin) =>
        plugin.onUserMessageCallback({ invocationContext, userMessage }),
      )) ?? userMessage;
    invocation.setUserContent(message);
    return message;
  }

  /** Appends the answer of a plugin, which takes the place of the live session. */
  async #appendAnswer(
    session: RuntimeSession,
    { context }: InvocationScope,
    { parts }: Content,
  ): Promise<Event> {
    const content: Content = { role: 'model', parts };
    const author = this.#parts.app.rootAgent.name;
    const { eventId } = await session.append({ author, content });
    return {
      id: eventId,
      timestamp: toAdkSeconds(this.#parts.options.clock?.now() ?? Date.now()),
      invocationId: context.invocationId,
      author,
      content,
      actions: createEventActions(),
    };
  }

  #createInvocation(session: RuntimeSession, config: LiveRunConfig): InvocationScope {
    const { maxLlmCalls, customMetadata } = config;
    return new InvocationScope(
      {
        ...this.#parts,
        session,
        invocationId: deriveInvocationId(newMessageId()),
        runConfig: { streamingMode: 'sse', maxLlmCalls, customMetadata, getSessionConfig: {} },
        userContent: undefined,
      },
      false,
    );
  }
}

/** @throws UnsupportedFeatureError naming an agent that cannot be part of a live session */
function assertLiveAgents(agent: BaseAgent): void {
  const kinds = { Workflow, ParallelAgent, LoopAgent };
  for (const [kind, type] of Object.entries(kinds)) {
    if (agent instanceof type)
      throw new UnsupportedFeatureError(
        agent.name,
        'runLive',
        `a live session has one speaker at a time; a ${kind} runs in runAsync only`,
      );
  }
  for (const sub of agent.subAgents) assertLiveAgents(sub);
}
