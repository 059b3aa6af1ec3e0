import type { LiveMedia } from '../models/live-model.ts';

/** The text and the window that a reply asks the net for. */
export interface SegmentRequest {
  readonly window: number;
  /** The beginning of the window. */
  readonly playFromMs: number;
  /** Of the text. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}

interface Window {
  readonly toMs: number;
  isGranted: boolean;
  isMarked: boolean;
}

/**
 * The audio and the text of one reply, between the connection and the client. Audio is released window by window, as the
 * net grants them. Each request for a window contains the text that has arrived until then.
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
  #text = '';
  #textFromMs: number | undefined;
  /** Text in progress that was requested before its final form arrived. */
  #requestedText = '';
  #isDone = false;
  #isEndTaken = false;

  constructor(reply: string, windowMs: number) {
    this.reply = reply;
    this.#windowMs = windowMs;
    this.#windows = [{ toMs: windowMs, isGranted: false, isMarked: false }];
  }

  /** Audio that waits for its window, in milliseconds. */
  get bufferedMs(): number {
    return this.#bufferedMs;
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
    this.#text += text;
  }

  /** Replaces text in progress by its final form. */
  setFinalText(text: string): void {
    const rest = text.startsWith(this.#requestedText)
      ? text.slice(this.#requestedText.length)
      : this.#text;
    this.#requestedText = '';
    this.#text = '';
    if (rest !== '') this.addText(rest);
  }

  /** The next window to ask for: if audio reaches beyond the last one, or the reply is done and has text left. */
  nextSegment(): SegmentRequest | undefined {
    const last = this.#windows.at(-1);
    const lastMs = last?.toMs ?? 0;
    const isNeeded = this.#audioMs > lastMs || (this.#isDone && this.#text !== '');
    if (!isNeeded || last?.isGranted === false) return undefined;
    const nextMs = lastMs + this.#windowMs;
    // A short rest goes with it, so that it costs no window of its own.
    const isLast = this.#isDone && this.#audioMs <= nextMs + this.#windowMs / 2;
    const toMs = isLast ? Math.max(lastMs, this.#audioMs) : nextMs;
    this.#windows.push({ toMs, isGranted: false, isMarked: false });
    const segment = {
      window: this.#windows.length - 1,
      playFromMs: lastMs,
      fromMs: this.#textFromMs ?? lastMs,
      toMs: Math.max(this.#audioMs, this.#textFromMs ?? lastMs),
      text: this.#text,
    };
    this.#requestedText += this.#text;
    this.#text = '';
    this.#textFromMs = undefined;
    return segment;
  }

  /** Audio of the reply that has arrived, in milliseconds. */
  get audioMs(): number {
    return this.#audioMs;
  }

  /** True once: when the reply has ended, and the net was asked for all its text and windows. */
  takeEnd(): boolean {
    const isRequested = this.#text === '' && this.#audioMs <= (this.#windows.at(-1)?.toMs ?? 0);
    if (!this.#isDone || this.#isEndTaken || !isRequested) return false;
    this.#isEndTaken = true;
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

  done(): void {
    this.#isDone = true;
  }

  /** The frames that the client may have now. */
  takeReleased(): readonly LiveMedia[] {
    const limit = this.#windows.findLast(({ isGranted }) => isGranted)?.toMs ?? 0;
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

  /** The windows that were played since the last call. */
  takePlayedWindows(): readonly number[] {
    const played: number[] = [];
    for (const [index, window] of this.#windows.entries()) {
      if (!window.isGranted || window.isMarked) continue;
      const endMs = this.#isDone ? Math.min(window.toMs, this.#audioMs) : window.toMs;
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
