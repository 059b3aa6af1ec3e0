import type { Event } from '../../core/index.ts';
import type {
  AcceptedReply,
  ClientPartial,
  LiveClient,
  LiveGoAwaySignal,
  LiveHandleSignal,
  LiveMedia,
  OpenConnection,
  VoiceCall,
} from '../../live/index.ts';
import type { LogEvent, PartialEvent } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { EventChannel } from './event-channel.ts';
import { toAudioEvent, toSignalEvent, toTextEvent } from './live-events.ts';
import type { LiveEventContext } from './live-events.ts';
import { PlaybackEstimate } from './playback-estimate.ts';

/** What happens in a live session, in its order: committed, or in progress. */
export type LiveItem =
  | { readonly logged: LogEvent | PartialEvent }
  | {
      readonly partial: Event;
      /** For audio and text of a reply, which are dropped when it is cut. */
      readonly reply?: string;
      readonly media?: LiveMedia;
    };

/** Options of a `LiveStream`. */
export interface LiveStreamOptions {
  readonly channel: EventChannel<LiveItem>;
  readonly rootAgent: string;
  readonly clock: Clock;
  /** A reply belongs to a turn. */
  readonly onReplyAccepted: () => void;
  /** A connection could not be opened. */
  readonly onConnectFailed: (error: unknown) => void;
}

const DEFAULT_INPUT_RATE = 16_000;
const DEFAULT_OUTPUT_RATE = 24_000;

/** The client of a live session whose audio and texts in progress become partial events. */
export class LiveStream implements LiveClient {
  /** Samples per second of the audio that the caller sends. */
  inputRate: number = DEFAULT_INPUT_RATE;
  readonly onConnectFailed: (error: unknown) => void;
  readonly #options: LiveStreamOptions;
  readonly #playback: PlaybackEstimate;
  /** The turns of replies. A reply that was cut has none. */
  readonly #invocations = new Map<string, string>();
  #agentName: string;
  #sampleRate = DEFAULT_OUTPUT_RATE;
  #call: VoiceCall | undefined;
  /** Texts of replies that the session has not accepted. */
  #early: ClientPartial[] = [];
  #reply = '';
  #invocationId = '';

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.#agentName = options.rootAgent;
    this.onConnectFailed = options.onConnectFailed;
    this.#playback = new PlaybackEstimate(options.clock, (reply, playedMs) =>
      this.#call?.played(reply, playedMs),
    );
  }

  /** The agent that speaks. */
  get agentName(): string {
    return this.#agentName;
  }

  get outputMimeType(): string {
    return `audio/pcm;rate=${this.#sampleRate}`;
  }

  setCall(call: VoiceCall): void {
    this.#call = call;
  }

  /** The caller has this audio: it counts as played from now on. */
  delivered(media: LiveMedia): void {
    if (this.#invocations.has(media.reply)) this.#playback.add(media);
  }

  /** Stops the clock of playback. */
  close(): void {
    this.#playback.pause();
  }

  readonly onConnected = ({ agent, outputAudio }: OpenConnection): void => {
    this.#agentName = agent ?? this.#options.rootAgent;
    this.#sampleRate = outputAudio.sampleRate;
  };

  readonly onReply = ({ reply, invocationId }: AcceptedReply): void => {
    this.#invocations.set(reply, invocationId);
    this.#reply = reply;
    this.#invocationId = invocationId;
    const early = this.#early;
    this.#early = [];
    for (const partial of early)
      if ('reply' in partial && partial.reply === reply) this.onPartial(partial);
    this.#options.onReplyAccepted();
  };

  readonly onAudio = (media: LiveMedia): void => {
    const { reply } = media;
    const invocationId = this.#invocations.get(reply);
    if (invocationId === undefined) return;
    const format = { encoding: 'pcm16', sampleRate: this.#sampleRate } as const;
    const partial = toAudioEvent(media, format, this.#contextFor(invocationId));
    this.#options.channel.push({ partial, reply, media });
  };

  readonly onPartial = (partial: ClientPartial): void => {
    if (partial.kind === 'heard') {
      const context = this.#contextFor(partial.invocationId ?? this.#invocationId);
      this.#options.channel.push({ partial: toTextEvent(partial, context) });
      return;
    }
    const { reply } = partial;
    const invocationId = this.#invocations.get(reply);
    if (invocationId === undefined) {
      this.#early.push(partial);
      return;
    }
    const event = toTextEvent(partial, this.#contextFor(invocationId));
    this.#options.channel.push({ partial: event, reply });
  };

  readonly onSignal = (signal: LiveGoAwaySignal | LiveHandleSignal): void => {
    const partial = toSignalEvent(signal, this.#contextFor(''));
    this.#options.channel.push({ partial });
  };

  readonly onPause = (): void => this.#playback.pause();

  readonly onResume = (): void => this.#playback.resume();

  readonly onFlush = (): void => {
    this.#invocations.clear();
    this.#early = [];
    this.#options.channel.retain((item) => !('reply' in item));
    const { reply, playedMs } = this.#playback.stop();
    // Nothing of this reply was delivered.
    this.#call?.stopped(this.#reply, reply === this.#reply ? playedMs : 0);
  };

  #contextFor(invocationId: string): LiveEventContext {
    const now = this.#options.clock.now();
    return { invocationId, agentName: this.#agentName, now };
  }
}
