import { omitUndefined } from '../../core/internal.ts';
import { newMessageId } from '../../core/index.ts';
import { eventIn } from '../../agents/internal.ts';
import type {
  Content,
  Event,
  FunctionResponse,
  JsonObject,
  LogEvent,
  PartialEvent,
  Seq,
  StateDelta,
} from '../../core/index.ts';
import type { LiveHub, VoiceCall } from '../../live/index.ts';
import { ModelError } from '../../models/index.ts';
import type { Clock } from '../../net/index.ts';
import { IllegalTransitionError } from '../../runtime/index.ts';
import type { Session } from '../../runtime/index.ts';
import { countCalledModelCalls } from '../../runtime/internal.ts';
import type { Store } from '../../store/index.ts';
import type { LiveRunConfig } from '../contracts/live-run-config.ts';
import { ActiveLiveSession } from '../live/active-live-session.ts';
import type { StreamResult } from '../live/active-live-session.ts';
import type { LiveRequestQueue } from '../live/live-request-queue.ts';
import { EventChannel } from './event-channel.ts';
import { LiveInput } from './live-input.ts';
import type { LiveRecorder } from './live-recorder.ts';
import { LiveStream } from './live-stream.ts';
import type { LiveItem } from './live-stream.ts';
import { LlmCallsLimitExceededError } from './runner-errors.ts';

/** A live session to run. */
export interface LiveRunOptions {
  readonly session: Session;
  readonly store: Store;
  readonly hub: LiveHub;
  readonly queue: LiveRequestQueue;
  readonly config: LiveRunConfig;
  readonly clock: Clock;
  readonly rootAgent: string;
  readonly recorder: LiveRecorder | undefined;
  /** The last log event before the live session. */
  readonly from: Seq;
  readonly answerCalls: (answers: readonly FunctionResponse[]) => Promise<void>;
  /** Shows a message of the user to the plugins. */
  readonly screenMessage: (message: Content) => Promise<Content>;
  readonly warn: (message: string) => void;
  readonly onError: (error: unknown) => void;
}

/** The ids of messages with results of streaming tools begin with it. */
const STREAM_PREFIX = 'stream/';

/** True for a message with a result of a streaming tool. */
export function isStreamResult({ messageId }: { readonly messageId: string }): boolean {
  return messageId.startsWith(STREAM_PREFIX);
}

/**
 * One live session of a runner, from its call to its end. It ends when its queue is closed, its connection is lost or
 * refused, or its session is closed, and no turn is under way.
 */
export class LiveRun {
  readonly active: ActiveLiveSession;
  readonly stream: LiveStream;
  readonly #options: LiveRunOptions;
  readonly #channel = new EventChannel<LiveItem>();
  /** Ends the reading of the queue. */
  readonly #stopInput = new AbortController();
  /** Ends the reading of the log. */
  readonly #stopLog = new AbortController();
  /** Messages that were sent and are not in the log yet. */
  readonly #sent = new Set<string>();
  /** Events of recordings that are not in the log yet. */
  readonly #appended = new Set<string>();
  #call: VoiceCall | undefined;
  #readSeq: Seq;
  #modelCalls = 0;
  /** When the turn began that runs, and whether it has the result of a tool. */
  #turnStartedAt = 0;
  #hasResults = false;
  #ending: Promise<void> | undefined;
  #hasHungUp = false;

  constructor(options: LiveRunOptions) {
    const { clock, rootAgent, config, from } = options;
    this.#options = options;
    this.#readSeq = from;
    this.active = new ActiveLiveSession({
      clock,
      maxWorkers: config.maxWorkers,
      onResult: (result) => this.#run(async () => this.#sendResult(result)),
    });
    this.stream = new LiveStream({
      channel: this.#channel,
      rootAgent,
      clock,
      onReplyAccepted: () => this.#countCalls(1),
      onConnectFailed: (error) => {
        // Any other failure is followed by another attempt.
        if (!(error instanceof ModelError) || error.retryable) return;
        this.#channel.fail(error);
        this.end();
      },
    });
  }

  /**
   * Begins the call. Yields what happens until the live session is over.
   * @throws every error of the model that no attempt can mend, and errors of the input
   * @throws LlmCallsLimitExceededError
   */
  async *items(): AsyncGenerator<LiveItem, void, void> {
    const { session, hub, config, recorder, queue, warn, answerCalls } = this.#options;
    this.#run(async () => this.#followLog());
    const call = await hub.call(session, this.stream, {
      config: config.config,
      runConfig: this.#runConfig,
      ...omitUndefined({ handle: config.handle }),
    });
    this.#call = call;
    this.stream.setCall(call);
    const input = new LiveInput({
      queue,
      call,
      stream: this.stream,
      active: this.active,
      recorder,
      sendMessage: async (message, stateDelta) =>
        this.#send(await this.#options.screenMessage(message), newMessageId(), stateDelta),
      answerCalls,
      writeState: async (stateDelta) => {
        const { eventId } = await session.append({ author: 'user', stateDelta });
        this.#appended.add(eventId);
      },
      warn,
    });
    this.#run(async () => {
      await input.read(this.#stopInput.signal);
      this.end();
    });
    for await (const item of this.#channel) {
      yield item;
      if (!('media' in item) || item.media === undefined) continue;
      this.stream.delivered(item.media);
      recorder?.add('output_audio', this.stream.outputMimeType, item.media.data);
    }
  }

  /** The call of the hub, when it has begun. */
  get voice(): VoiceCall | undefined {
    return this.#call;
  }

  /** The run config of every turn, written or spoken. */
  get #runConfig(): JsonObject {
    const { customMetadata, maxLlmCalls } = this.#options.config;
    return { maxLlmCalls, customMetadata, streamingMode: 'sse' };
  }

  /** Interrupts the turn that runs, if there is one, and ends the live session. */
  interrupt(): void {
    this.#run(async () => {
      const { session } = this.#options;
      const { activity } = await session.status();
      if (activity !== 'idle' || this.#sent.size > 0) await session.interrupt();
    });
    this.end();
  }

  /** Ends the live session when its turn is over. */
  end(): void {
    this.#ending ??= this.#hangUp();
  }

  /** Ends the live session at once. Its turn goes on in the session. */
  async close(): Promise<void> {
    this.end();
    this.#channel.close();
    this.#stopLog.abort();
    await this.#ending;
  }

  async #hangUp(): Promise<void> {
    this.#stopInput.abort();
    this.active.close();
    this.stream.close();
    try {
      await this.#saveRecording();
      await this.#call?.hangUp();
      this.#hasHungUp = true;
      await this.#closeIfOver();
    } catch (error) {
      // A session that is archived has no connection any more.
      if (error instanceof IllegalTransitionError) this.#channel.close();
      else this.#channel.fail(error);
      this.#stopLog.abort();
    }
  }

  /** Ends the events, if nothing more is to come. */
  async #closeIfOver(): Promise<void> {
    if (!this.#hasHungUp) return;
    const { activity, lastSeq } = await this.#options.session.status();
    const isQueued = activity === 'idle' && this.#sent.size > 0;
    const isBehind = lastSeq > this.#readSeq || this.#appended.size > 0;
    if (activity === 'running' || isQueued || isBehind) return;
    this.#channel.close();
    this.#stopLog.abort();
  }

  async #followLog(): Promise<void> {
    const { session, from } = this.#options;
    for await (const logged of session.events(from, { signal: this.#stopLog.signal })) {
      this.#channel.push({ logged });
      if (logged.type !== 'partial' && logged.type !== 'partial.reset') await this.#note(logged);
    }
  }

  async #note(logged: Exclude<LogEvent | PartialEvent, PartialEvent>): Promise<void> {
    this.#readSeq = logged.seq;
    switch (logged.type) {
      case 'user.message':
        this.#sent.delete(logged.messageId);
        break;
      case 'event.appended':
        this.#appended.delete(logged.event.id);
        break;
      case 'turn.started':
        this.#turnStartedAt = logged.at;
        this.#hasResults = false;
        break;
      case 'tool.result':
        this.#hasResults = true;
        break;
      case 'turn.ended':
        await this.#saveRecording(logged.invocationId);
        await this.#countCalledAgents();
        break;
      case 'error':
        if (logged.code === 'live_connection_lost') this.end();
        break;
      case 'session.archived':
      case 'session.completed':
        this.end();
        break;
      default:
    }
    await this.#closeIfOver();
  }

  async #send(
    message: Content,
    messageId: string,
    stateDelta: StateDelta | undefined,
  ): Promise<void> {
    const { session, config } = this.#options;
    const { customMetadata } = config;
    const runConfig = this.#runConfig;
    const hasMetadata = Object.keys(customMetadata).length > 0;
    this.#sent.add(messageId);
    await session.send(message, {
      messageId,
      runConfig,
      ...omitUndefined({ stateDelta, metadata: hasMetadata ? customMetadata : undefined }),
    }).accepted;
  }

  /** Tells the model what a streaming tool yielded. */
  async #sendResult({ toolName, callId, index, value, error }: StreamResult): Promise<void> {
    const text =
      error === undefined
        ? `Function ${toolName} returned: ${JSON.stringify(value)}`
        : `Function ${toolName} failed: ${error}`;
    await this.#send(
      { role: 'user', parts: [{ text }] },
      `${STREAM_PREFIX}${callId}/${index}`,
      undefined,
    );
  }

  /** Counts the model calls of agents that the turn called. */
  async #countCalledAgents(): Promise<void> {
    const { session, store, config } = this.#options;
    // Only a tool calls an agent.
    if (config.maxLlmCalls <= 0 || !this.#hasResults) return;
    this.#countCalls(await countCalledModelCalls(store, session.key, this.#turnStartedAt));
  }

  /** Counts model calls: replies of the live models, and calls of the agents that a turn called. */
  #countCalls(count: number): void {
    const { maxLlmCalls } = this.#options.config;
    this.#modelCalls += count;
    if (maxLlmCalls <= 0 || this.#modelCalls <= maxLlmCalls) return;
    this.#channel.fail(new LlmCallsLimitExceededError(maxLlmCalls));
    this.interrupt();
  }

  /** Saves what was said and shown since the last time. The log gets an event for each artifact. */
  async #saveRecording(invocationId = ''): Promise<void> {
    const { recorder, session } = this.#options;
    for (const { event } of (await recorder?.save(invocationId, this.stream.agentName)) ?? []) {
      this.#appended.add(event.id);
      await this.#inject(session, event);
    }
  }

  async #inject(session: Session, event: Event): Promise<void> {
    const appended = { event, stateDelta: {}, isHidden: true };
    await session.inject(eventIn, appended, { dedupeKey: `${eventIn.name}:${event.id}` });
  }

  /** Runs something beside the events. Its error ends them. */
  #run(work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      const { signal } = this.#stopLog;
      if (signal.aborted) this.#options.onError(error);
      this.#channel.fail(error);
      this.end();
    });
  }
}
