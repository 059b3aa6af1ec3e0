import { omitUndefined } from '../../../core/internal.ts';
import type { LiveReporter } from '../live-reporter.ts';

/**
 * The edges of the user's speech. Only some models of Gemini report them (`voiceActivity`), and the Gemini API has no
 * option that requests them. For the others they are derived: speech starts with the first words of its transcript, or
 * with a reply that nobody asked for in writing, and stops when the reply begins.
 */
export class GeminiSpeechEdges {
  readonly #reporter: LiveReporter;
  /** True if the server detects speech. Otherwise the client knows the edges. */
  readonly #isDetected: boolean;
  #isReported = false;
  #isOpen = false;
  /** True if the model was asked for a reply in writing, or with results, and has not begun it. */
  #isAsked = false;

  constructor(reporter: LiveReporter, isDetected: boolean) {
    this.#reporter = reporter;
    this.#isDetected = isDetected;
  }

  /** False if a turn of the model without a reply means nothing: nobody was told of the speech before it. */
  get isReplyAwaited(): boolean {
    return this.#isReported || this.#isAsked || !this.#isDetected;
  }

  /** The server reports an edge. From then on none is derived. */
  reported(edge: 'started' | 'stopped', atMs: number | undefined): void {
    this.#isReported = true;
    // Its start was derived before.
    if (edge === 'started' && this.#isOpen) return;
    this.#report(edge, atMs);
  }

  /** The model is asked for a reply. */
  asked(): void {
    this.#isAsked = true;
  }

  /** A piece of a transcript arrives. During a reply it belongs to the utterance before the reply. */
  heard(): void {
    if (this.#reporter.reply === undefined) this.#derive('started');
  }

  /** A reply is about to begin. */
  replying(): void {
    const isAsked = this.#isAsked;
    this.#isAsked = false;
    if (isAsked) return;
    this.#derive('started');
    this.#derive('stopped');
  }

  #derive(edge: 'started' | 'stopped'): void {
    if (!this.#isDetected || this.#isReported || this.#isOpen === (edge === 'started')) return;
    // Speech takes the place of a request that has no reply yet.
    this.#isAsked = false;
    this.#report(edge);
  }

  #report(edge: 'started' | 'stopped', atMs?: number): void {
    this.#isOpen = edge === 'started';
    this.#reporter.signal({ kind: 'voice', edge, ...omitUndefined({ atMs }) });
  }
}
