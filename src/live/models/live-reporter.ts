import { omitUndefined } from '../../core/internal.ts';
import type { FinishReason, Usage } from '../../core/index.ts';
import { audioDurationMs, type AudioFormat } from './audio-format.ts';
import { limitCalls, splitText } from './limit-signal.ts';
import type { LiveDiagnostic, LiveListener, LivePartial } from './live-model.ts';
import type { LiveCall, LiveClosedSignal, LiveReplyError, LiveSignal } from './live-signal.ts';

type Form = 'audio' | 'text' | 'thought';

const MAX_HANDLE_LENGTH = 4_096;
const MAX_MESSAGE_LENGTH = 500;

/** How a reply ended. */
export interface ReplyEnd {
  readonly finishReason: FinishReason;
  readonly usage?: Usage;
  readonly error?: LiveReplyError;
}

/**
 * Reports one connection to its listener, and keeps the promises of `LiveSignal`: a reply is begun
 * once and done once, nothing of a reply follows `interrupted`, no signal is larger than the limit,
 * and nothing follows `closed`. Every implementation of `LiveModel` reports through it.
 */
export class LiveReporter {
  readonly #listener: LiveListener;
  readonly #outputAudio: AudioFormat;
  readonly #redact: (text: string) => string;
  #replies = 0;
  #reply: string | undefined;
  #interrupted = false;
  #audioBytes = 0;
  #heard = '';
  #closed = false;
  /** The text of the active reply that no `said` signal contains yet, by form. */
  readonly #text = new Map<Form, string>();

  /** @param redact removes secrets from texts of the server */
  constructor(
    listener: LiveListener,
    outputAudio: AudioFormat,
    redact: (text: string) => string = (text) => text,
  ) {
    this.#listener = listener;
    this.#outputAudio = outputAudio;
    this.#redact = redact;
  }

  /** The reply that is begun and not done. */
  get reply(): string | undefined {
    return this.#reply;
  }

  /** Whether the active reply was interrupted. Its media and texts are dropped. */
  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Whether `closed` was reported. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Begins a reply, unless one is active. Returns its id. */
  begin(): string {
    if (this.#reply !== undefined) return this.#reply;
    this.#replies += 1;
    const reply = `r${this.#replies}`;
    this.#reply = reply;
    this.#interrupted = false;
    this.#audioBytes = 0;
    this.signal({ kind: 'begun', reply });
    return reply;
  }

  /** Reports audio of the active reply, or of one that begins with it. */
  audio(data: Uint8Array): void {
    const reply = this.begin();
    if (this.#interrupted || data.byteLength === 0) return;
    const fromMs = audioDurationMs(this.#outputAudio, this.#audioBytes);
    this.#audioBytes += data.byteLength;
    const toMs = audioDurationMs(this.#outputAudio, this.#audioBytes);
    if (this.#closed) return;
    this.#call(() => this.#listener.onMedia({ reply, data, fromMs, toMs }));
  }

  /** Reports text of the active reply, or of one that begins with it. */
  text(form: Form, text: string): void {
    if (text === '') return;
    const reply = this.begin();
    if (this.#interrupted) return;
    this.#partial({ kind: 'said', reply, text, form });
    const pieces = splitText((this.#text.get(form) ?? '') + text);
    this.#text.set(form, pieces.at(-1) ?? '');
    for (const piece of pieces.slice(0, -1)) this.#say(form, piece);
  }

  /** Reports calls. The reply must be ended next. */
  calls(calls: readonly LiveCall[]): void {
    const reply = this.begin();
    if (this.#interrupted) return;
    this.flush();
    this.signal({ kind: 'call', reply, calls: limitCalls(calls) });
  }

  /** Reports that the active reply was cut. Without one, it does nothing. */
  interrupt(): void {
    if (this.#reply === undefined || this.#interrupted) return;
    this.flush();
    this.signal({ kind: 'interrupted', reply: this.#reply });
    this.#interrupted = true;
  }

  /** Ends the active reply. Without one, it does nothing. */
  end({ finishReason, usage, error }: ReplyEnd): void {
    const reply = this.#reply;
    if (reply === undefined) return;
    this.flush();
    const interrupted = this.#interrupted;
    const details = omitUndefined({ usage, error: error && this.#limitError(error) });
    this.signal({ kind: 'done', reply, finishReason, interrupted, ...details });
    this.#reply = undefined;
    this.#interrupted = false;
  }

  /** Reports the complete text of the active reply so far as `said`. */
  flush(): void {
    for (const [form, text] of this.#text) {
      if (text !== '' && !this.#interrupted) this.#say(form, text);
    }
    this.#text.clear();
  }

  /** Adds to the transcript of the user's speech. */
  heard(text: string): void {
    if (text === '') return;
    this.#partial({ kind: 'heard', text });
    const pieces = splitText(this.#heard + text);
    this.#heard = pieces.at(-1) ?? '';
    for (const piece of pieces.slice(0, -1)) this.signal({ kind: 'heard', text: piece });
  }

  /** Ends the transcript of an utterance. `text` replaces what was added to it. */
  endTranscript(text: string = this.#heard): void {
    this.#heard = '';
    for (const piece of splitText(text)) {
      if (piece !== '') this.signal({ kind: 'heard', text: piece });
    }
  }

  handle(handle: string): void {
    if (handle.length > MAX_HANDLE_LENGTH) {
      this.diagnostic('unexpected_value', `A resumption handle has ${handle.length} characters.`);
    } else this.signal({ kind: 'handle', handle });
  }

  /** Ends what is active and reports `closed`. Only the first call has an effect. */
  close(closed: Omit<LiveClosedSignal, 'kind'>): void {
    if (this.#closed) return;
    this.flush();
    this.endTranscript();
    const { message = '', ...rest } = closed;
    const shown = message === '' ? undefined : this.#redact(message).slice(0, MAX_MESSAGE_LENGTH);
    this.signal({ kind: 'closed', ...rest, ...omitUndefined({ message: shown }) });
    this.#closed = true;
  }

  /** Reports nothing any more. */
  silence(): void {
    this.#closed = true;
  }

  signal(signal: LiveSignal): void {
    if (this.#closed) return;
    this.#call(() => this.#listener.onSignal(signal));
  }

  diagnostic(kind: LiveDiagnostic['kind'], message: string): void {
    if (this.#closed) return;
    try {
      const shown = this.#redact(message).slice(0, MAX_MESSAGE_LENGTH);
      this.#listener.onDiagnostic?.({ kind, message: shown });
    } catch {
      // There is nobody left to report it to.
    }
  }

  #say(form: Form, text: string): void {
    if (this.#reply !== undefined) this.signal({ kind: 'said', reply: this.#reply, text, form });
  }

  #partial(partial: LivePartial): void {
    if (!this.#closed) this.#call(() => this.#listener.onPartial?.(partial));
  }

  #limitError({ code, message }: LiveReplyError): LiveReplyError {
    return {
      code: this.#redact(code).slice(0, 100),
      message: this.#redact(message).slice(0, MAX_MESSAGE_LENGTH),
    };
  }

  // An error of the listener must not end the connection, nor the process.
  #call(listen: () => void): void {
    try {
      listen();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.diagnostic('listener_failed', `The listener threw: ${reason}`);
    }
  }
}
