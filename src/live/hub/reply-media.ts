import type { LiveMedia } from '../models/live-model.ts';
import type { LiveCall } from '../models/live-signal.ts';
import type { DoneReply, ReplyText } from '../vocabulary/reply-places.ts';
import { MAX_SIGNAL_TEXT } from '../vocabulary/signal-schema.ts';
import { ReplyTranscript } from './reply-transcript.ts';

/** Text of a reply, and the part of its audio that it belongs to. */
export type TextRest = Omit<ReplyText, 'reply'>;

/** The text and the window that a reply asks the net for. */
export interface SegmentRequest extends TextRest {
  readonly window: number;
  /** The beginning of the window. */
  readonly playFromMs: number;
}

interface Window {
  readonly toMs: number;
  /** The text that it was asked for with. */
  readonly rest?: TextRest;
  isGranted: boolean;
  isMarked: boolean;
}

/** The most audio that the end of a reply releases, in windows. */
const REST_WINDOWS = 2;

/**
 * The audio and the text of one reply, between the connection and the client. Audio is released window by window, as the
 * net grants them. Each request for a window contains the text that has arrived until then. The end of the reply has the
 * rest of the text, and releases the rest of the audio when it is committed.
 */
export class ReplyMedia {
  readonly reply: string;
  readonly #windowMs: number;
  readonly #windows: Window[];
  #frames: LiveMedia[] = [];
  #bufferedMs = 0;
  #audioMs = 0;
  #releasedMs = 0;
  #playedMs = 0;
  readonly #text = new ReplyTranscript();
  #textFromMs: number | undefined;
  #isDone = false;
  #hasCalls = false;
  /** Whether the end of the reply, with the rest of its text, is reported to the net. */
  #reportsEnd = false;
  #calls: (readonly LiveCall[])[] = [];
  #isInterrupted = false;
  #endRest: TextRest | undefined;
  #isEndTaken = false;
  #isEndGranted = false;
  #isEndPlayed = false;

  constructor(reply: string, windowMs: number) {
    this.reply = reply;
    this.#windowMs = windowMs;
    this.#windows = [{ toMs: windowMs, isGranted: false, isMarked: false }];
  }

  /** Audio that waits for its window, in milliseconds. */
  get bufferedMs(): number {
    return this.#bufferedMs;
  }

  /** How much of it the client has reported as played, in milliseconds. */
  get playedMs(): number {
    return this.#playedMs;
  }

  /** True when the client has audio that it has not reported as played. */
  get isPlaying(): boolean {
    return this.#releasedMs > this.#playedMs;
  }

  addFrame(frame: LiveMedia): void {
    this.#frames.push(frame);
    this.#bufferedMs += frame.toMs - frame.fromMs;
    this.#audioMs = Math.max(this.#audioMs, frame.toMs);
  }

  addText(text: string): void {
    this.#textFromMs ??= this.#audioMs;
    this.#text.add(text);
  }

  /** Replaces text in progress, or its beginning, by its final form. */
  setFinalText(text: string): void {
    this.#text.settle(text);
    if (this.#text.length > 0) this.#textFromMs ??= this.#audioMs;
  }

  /**
   * The next window to ask for: if audio reaches beyond the last one and is not released with the end of the reply, if the
   * text is too long for one signal, or if a reply that was broken off has text left.
   */
  nextSegment(): SegmentRequest | undefined {
    const last = this.#windows.at(-1);
    const lastMs = last?.toMs ?? 0;
    const isBrokenOff = this.#isDone && !this.#reportsEnd;
    const endMs = this.#reportsEnd ? lastMs + REST_WINDOWS * this.#windowMs : lastMs;
    const isNeeded =
      this.#audioMs > endMs ||
      this.#text.length > MAX_SIGNAL_TEXT ||
      (isBrokenOff && this.#text.length > 0);
    if (!isNeeded || last?.isGranted === false) return undefined;
    const nextMs = lastMs + this.#windowMs;
    // A short rest goes with it, so that it costs no window of its own.
    const isLast = isBrokenOff && this.#audioMs <= nextMs + this.#windowMs / 2;
    const toMs = isLast ? Math.max(lastMs, this.#audioMs) : nextMs;
    const rest = this.#takeText(lastMs);
    this.#windows.push({ toMs, rest, isGranted: false, isMarked: false });
    return { window: this.#windows.length - 1, playFromMs: lastMs, ...rest };
  }

  /** The text that no signal contains yet, as much of it as one signal may have. */
  #takeText(lastMs: number): TextRest {
    const fromMs = this.#textFromMs ?? lastMs;
    const toMs = Math.max(this.#audioMs, fromMs);
    const text = this.#text.take();
    this.#textFromMs = this.#text.length === 0 ? undefined : toMs;
    return { fromMs, toMs, text };
  }

  /** Audio of the reply that has arrived, in milliseconds. */
  get audioMs(): number {
    return this.#audioMs;
  }

  /**
   * The rest of the text, once: when the reply has ended, and its end releases the rest of its audio. Undefined before and
   * after. A reply that the net has not accepted may be over at once if nothing of it is heard or read.
   */
  takeEnd(): Pick<DoneReply, 'rest' | 'playFromMs'> | undefined {
    const last = this.#windows.at(-1);
    const lastMs = last?.toMs ?? 0;
    const isEmpty = this.#text.length === 0 && this.#audioMs === 0;
    const isShort =
      this.#text.length <= MAX_SIGNAL_TEXT &&
      this.#audioMs <= lastMs + REST_WINDOWS * this.#windowMs;
    const isNext = isEmpty || (isShort && last?.isGranted === true);
    if (!this.#reportsEnd || this.#isEndTaken || !isNext) return undefined;
    this.#isEndTaken = true;
    if (this.#text.length > 0) this.#endRest = this.#takeText(lastMs);
    return {
      ...(this.#endRest && { rest: this.#endRest }),
      ...(this.#audioMs > lastMs && { playFromMs: lastMs }),
    };
  }

  /** The end of the reply is committed: the client may have all of it. */
  grantEnd(): void {
    this.#isEndGranted = true;
  }

  /** True once: when the client has played the whole reply, and nothing else ends it. */
  takePlayed(): boolean {
    const isPlayed = this.#isEndTaken && this.isAccepted && this.#playedMs >= this.#audioMs;
    if (!isPlayed || this.#hasCalls || this.#isEndPlayed) return false;
    this.#isEndPlayed = true;
    return true;
  }

  /** True for a reply that the net has accepted. */
  get isAccepted(): boolean {
    return this.#windows[0]?.isGranted === true;
  }

  /** True for a complete reply that the net has not accepted yet. */
  get isWaiting(): boolean {
    return this.#isDone && !this.isAccepted;
  }

  grant(window: number): void {
    const granted = this.#windows[window];
    if (granted !== undefined) granted.isGranted = true;
  }

  /** All audio that was released counts as played. */
  playedAll(): void {
    this.played(this.#releasedMs);
  }

  /** Nothing more of the reply arrives. Its end is reported if it was not broken off. */
  done({ isBrokenOff }: { readonly isBrokenOff: boolean }): void {
    this.#isDone = true;
    this.#reportsEnd ||= !isBrokenOff;
  }

  /** The reply makes calls, so it is over before its audio is. */
  addCalls(calls: readonly LiveCall[]): void {
    this.#hasCalls = true;
    this.#calls.push(calls);
  }

  /** The calls since the last time, as they arrived. */
  takeCalls(): readonly (readonly LiveCall[])[] {
    return this.#calls.splice(0);
  }

  /** The server has cut the reply. */
  interrupted(): void {
    this.#isInterrupted = true;
  }

  /** True once: when the server has cut the reply. */
  takeInterrupted(): boolean {
    const isInterrupted = this.#isInterrupted;
    this.#isInterrupted = false;
    return isInterrupted;
  }

  /** True for a reply that the net has accepted, and that ends when its audio was played. */
  get isUnderWay(): boolean {
    const isBrokenOff = this.#isDone && !this.#reportsEnd;
    return this.isAccepted && !this.#hasCalls && !this.#isEndPlayed && !isBrokenOff;
  }

  /** The text that the net has not accepted, in order. When the reply is cut, a part of it was heard. */
  get openText(): readonly TextRest[] {
    const fromMs = this.#textFromMs ?? this.#audioMs;
    const text = this.#text.peek();
    return [
      ...this.#windows.flatMap(({ isGranted, rest }) => (isGranted || !rest ? [] : [rest])),
      ...(this.#isEndGranted || !this.#endRest ? [] : [this.#endRest]),
      { fromMs, toMs: Math.max(this.#audioMs, fromMs), text },
    ].filter((one) => one.text !== '');
  }

  /** The frames that the client may have now. */
  takeReleased(): readonly LiveMedia[] {
    const granted = this.#windows.findLast(({ isGranted }) => isGranted)?.toMs ?? 0;
    const limit = this.#isEndGranted ? Infinity : granted;
    const count = this.#frames.findIndex(({ fromMs }) => fromMs >= limit);
    const released = this.#frames.splice(0, count === -1 ? this.#frames.length : count);
    for (const { fromMs, toMs } of released) {
      this.#bufferedMs -= toMs - fromMs;
      this.#releasedMs = Math.max(this.#releasedMs, toMs);
    }
    return released;
  }

  played(playedMs: number): void {
    this.#playedMs = Math.max(this.#playedMs, playedMs);
  }

  /** The windows that were played since the last call. When the reply asks for no more of them, its end stands for all. */
  takePlayedWindows(): readonly number[] {
    if (this.#isEndTaken && !this.#hasCalls) return [];
    const played: number[] = [];
    for (const [index, window] of this.#windows.entries()) {
      if (!window.isGranted || window.isMarked) continue;
      // The last window has the rest of the audio.
      const isLast = this.#isEndTaken && index === this.#windows.length - 1;
      const toMs = isLast ? this.#audioMs : window.toMs;
      const endMs = this.#isDone ? Math.min(toMs, this.#audioMs) : toMs;
      if (this.#playedMs < endMs) continue;
      window.isMarked = true;
      played.push(index);
    }
    return played;
  }

  /** Drops all audio. */
  flush(): void {
    this.#frames = [];
    this.#bufferedMs = 0;
    this.#releasedMs = this.#playedMs;
  }
}
