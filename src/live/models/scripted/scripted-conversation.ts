import type { FinishReason, Usage } from '../../../core/index.ts';
import { omitUndefined } from '../../../core/internal.ts';
import type { Clock } from '../../../net/index.ts';
import { audioByteLength, type AudioFormat } from '../audio-format.ts';
import type { LiveReplyError } from '../live-signal.ts';
import type { ScriptedLiveCall, ScriptedLiveTurn } from './scripted-live-turn.ts';
import { VoiceDetector, type VoiceEdge } from './voice-detector.ts';

/** What a scripted conversation does, in the order of its times. */
export type ScriptedEvent =
  | ({ readonly type: 'voice' } & VoiceEdge)
  | { readonly type: 'heard'; readonly text: string }
  | { readonly type: 'begun' }
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'word'; readonly text: string; readonly pcm: Uint8Array }
  | { readonly type: 'calls'; readonly calls: readonly ScriptedLiveCall[] }
  | { readonly type: 'calls-canceled'; readonly ids: readonly string[] }
  | { readonly type: 'interrupted' }
  | ({ readonly type: 'done'; readonly interrupted: boolean } & ScriptedReplyEnd)
  | { readonly type: 'position'; readonly turnIndex: number }
  | { readonly type: 'go-away'; readonly timeLeftMs: number }
  | { readonly type: 'close'; readonly code: number; readonly reason: string };

/** How a scripted reply ends. */
export interface ScriptedReplyEnd {
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  readonly error?: LiveReplyError;
}

/** Options of `ScriptedConversation`. */
export interface ScriptedConversationOptions {
  readonly turns: readonly ScriptedLiveTurn[];
  /** The first turn to play. */
  readonly turnIndex: number;
  readonly clock: Clock;
  readonly inputAudio: AudioFormat;
  readonly outputAudio: AudioFormat;
  /** Whether audio starts and ends turns of the user. */
  readonly detectsVoice: boolean;
  readonly silenceMs: number;
  /** Whether speech interrupts a reply. */
  readonly interrupts: boolean;
  readonly emit: (event: ScriptedEvent) => void;
}

const DEFAULT_WORD_AUDIO_MS = 200;
const LOUDNESS = 8_000;

/**
 * The model side of a scripted conversation, without a protocol: it detects speech, plays the turns
 * on a clock, and is interrupted by speech. All events are emitted by the clock, never during a call.
 */
export class ScriptedConversation {
  readonly #options: ScriptedConversationOptions;
  readonly #voice: VoiceDetector;
  readonly #timers = new Set<() => void>();
  readonly #replyTimers = new Set<() => void>();
  #turnIndex: number;
  /** `waiting`: a reply is scheduled and not begun. */
  #reply: 'none' | 'waiting' | 'begun' = 'none';
  readonly #openCalls = new Set<string>();
  readonly #canceledCalls = new Set<string>();

  constructor(options: ScriptedConversationOptions) {
    this.#options = options;
    this.#turnIndex = options.turnIndex;
    this.#voice = new VoiceDetector(options.inputAudio, options.silenceMs);
  }

  /** Whether a reply is scheduled or begun. */
  get isReplying(): boolean {
    return this.#reply !== 'none';
  }

  /** Reads audio of the user. */
  audio(pcm: Uint8Array): void {
    if (!this.#options.detectsVoice) return;
    const edge = this.#voice.read(pcm);
    if (edge !== undefined) this.#edge(edge);
  }

  /** The user's audio ends. */
  endAudio(): void {
    const edge = this.#voice.stop();
    if (edge !== undefined) this.#edge(edge);
  }

  /** The client marks speech itself. */
  activity(edge: 'started' | 'stopped'): void {
    if (edge === 'started') this.#interruptIf(this.#options.interrupts);
    else this.#respondToSpeech();
  }

  /** Goes on after turns that the history has already. */
  skipTurns(count: number): void {
    this.#turnIndex += count;
  }

  /** Ends an utterance whose reply is requested apart. */
  endUtterance(): void {
    const heard = this.#options.turns[this.#turnIndex]?.heard;
    if (heard !== undefined && this.#reply === 'none') this.#emit({ type: 'heard', text: heard });
  }

  /** Starts the next reply, unless one is running. */
  respond(): void {
    if (this.#reply !== 'none') return;
    const turn = this.#options.turns[this.#turnIndex];
    if (turn === undefined) {
      const reason = `the script has ${this.#options.turns.length} turns: add a turn`;
      this.#emit({ type: 'close', code: 1011, reason });
      return;
    }
    this.#reply = 'waiting';
    this.#after(this.#replyTimers, turn.delayMs ?? 0, () => this.#begin(turn));
  }

  /** Stops the reply, as a barge-in does. */
  cut(): void {
    this.#interruptIf(true);
  }

  /** Accepts a result, also of a call of a former connection. Returns false if the call was canceled. */
  toolResult(callId: string): boolean {
    this.#openCalls.delete(callId);
    return !this.#canceledCalls.has(callId);
  }

  /** Whether calls have no result yet. */
  get hasOpenCalls(): boolean {
    return this.#openCalls.size > 0;
  }

  /** Stops all timers. No event follows. */
  close(): void {
    for (const cancel of [...this.#timers, ...this.#replyTimers]) cancel();
    this.#timers.clear();
    this.#replyTimers.clear();
  }

  #edge(edge: VoiceEdge): void {
    this.#emit({ type: 'voice', ...edge });
    if (edge.edge === 'started') this.#interruptIf(this.#options.interrupts);
    else this.#respondToSpeech();
  }

  #respondToSpeech(): void {
    this.endUtterance();
    this.respond();
  }

  #interruptIf(interrupts: boolean): void {
    if (!interrupts || this.#reply === 'none') return;
    const hadBegun = this.#reply === 'begun';
    this.#stopReply();
    if (!hadBegun) return;
    this.#emit({ type: 'interrupted' });
    this.#emit({ type: 'done', interrupted: true, finishReason: 'stop' });
    this.#emit({ type: 'position', turnIndex: this.#turnIndex });
  }

  #stopReply(): void {
    for (const cancel of this.#replyTimers) cancel();
    this.#replyTimers.clear();
    this.#reply = 'none';
  }

  #begin(turn: ScriptedLiveTurn): void {
    this.#reply = 'begun';
    this.#turnIndex += 1;
    this.#options.emit({ type: 'begun' });
    if (turn.thinking !== undefined) this.#options.emit({ type: 'thought', text: turn.thinking });
    const words = turn.text?.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
    const { wordDelayMs = 0, close } = turn;
    for (const [index, text] of words.entries()) {
      this.#after(this.#replyTimers, index * wordDelayMs, () => {
        this.#options.emit({ type: 'word', text, pcm: this.#tone(turn, index) });
        if (close?.afterWords === index + 1) this.#close(close);
      });
    }
    const endMs = Math.max(0, words.length - 1) * wordDelayMs;
    this.#after(this.#replyTimers, endMs, () => this.#end(turn));
  }

  #end(turn: ScriptedLiveTurn): void {
    this.#stopReply();
    const { emit } = this.#options;
    const { toolCalls = [], usage, error, cancelCallsAfterMs, goAway, close } = turn;
    if (toolCalls.length > 0) {
      for (const { id } of toolCalls) this.#openCalls.add(id);
      emit({ type: 'calls', calls: toolCalls });
    }
    const finishReason = turn.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
    emit({ type: 'done', interrupted: false, finishReason, ...omitUndefined({ usage, error }) });
    emit({ type: 'position', turnIndex: this.#turnIndex });
    if (cancelCallsAfterMs !== undefined) {
      this.#after(this.#timers, cancelCallsAfterMs, () => {
        const ids = toolCalls.map(({ id }) => id).filter((id) => this.#openCalls.delete(id));
        for (const id of ids) this.#canceledCalls.add(id);
        if (ids.length > 0) emit({ type: 'calls-canceled', ids });
      });
    }
    if (goAway !== undefined) emit({ type: 'go-away', ...goAway });
    if (close !== undefined && close.afterWords === undefined) this.#close(close);
  }

  #close({ code, reason = '' }: { readonly code: number; readonly reason?: string }): void {
    this.close();
    this.#options.emit({ type: 'close', code, reason });
  }

  #tone({ wordAudioMs = DEFAULT_WORD_AUDIO_MS }: ScriptedLiveTurn, index: number): Uint8Array {
    const pcm = new Uint8Array(audioByteLength(this.#options.outputAudio, wordAudioMs));
    const view = new DataView(pcm.buffer);
    // A different pitch for each word, so that a test can tell them apart.
    const halfPeriod = 20 + (index % 40);
    for (let sample = 0; sample * 2 < pcm.byteLength; sample++) {
      const isHigh = Math.floor(sample / halfPeriod) % 2 === 0;
      view.setInt16(sample * 2, isHigh ? LOUDNESS : -LOUDNESS, true);
    }
    return pcm;
  }

  #emit(event: ScriptedEvent): void {
    this.#after(this.#timers, 0, () => this.#options.emit(event));
  }

  #after(timers: Set<() => void>, ms: number, run: () => void): void {
    const { clock } = this.#options;
    const cancel = clock.at(clock.now() + ms, () => {
      timers.delete(cancel);
      run();
    });
    timers.add(cancel);
  }
}
