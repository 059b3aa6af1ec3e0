import type { LiveMedia } from '../../live/index.ts';
import type { Clock } from '../../net/index.ts';

/** How often playback is reported, in milliseconds. */
const REPORT_MS = 200;

/**
 * How much of a reply was played, by the clock: ADK's live API has no reports of playback, so audio counts as played in
 * real time from when it was delivered.
 */
export class PlaybackEstimate {
  readonly #clock: Clock;
  readonly #report: (reply: string, playedMs: number) => void;
  #reply = '';
  #releasedMs = 0;
  #playedMs = 0;
  /** When `playedMs` was true. Undefined while nothing plays. */
  #since: number | undefined;
  #cancel: () => void = () => {};

  constructor(clock: Clock, report: (reply: string, playedMs: number) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** Audio was delivered. */
  add({ reply, toMs }: Pick<LiveMedia, 'reply' | 'toMs'>): void {
    if (reply !== this.#reply) {
      this.stop();
      this.#reply = reply;
      this.#playedMs = 0;
      this.#releasedMs = 0;
    }
    this.#releasedMs = Math.max(this.#releasedMs, toMs);
    this.resume();
  }

  /** Playback is paused. */
  pause(): void {
    this.#advance();
    this.#since = undefined;
    this.#cancel();
  }

  /** Playback goes on. */
  resume(): void {
    if (this.#since !== undefined || this.#playedMs >= this.#releasedMs) return;
    this.#since = this.#clock.now();
    this.#schedule();
  }

  /** Ends the playback of the reply. Returns how much of it was played. */
  stop(): { readonly reply: string; readonly playedMs: number } {
    this.pause();
    this.#releasedMs = this.#playedMs;
    return { reply: this.#reply, playedMs: this.#playedMs };
  }

  #advance(): void {
    if (this.#since === undefined) return;
    const now = this.#clock.now();
    this.#playedMs = Math.min(this.#releasedMs, this.#playedMs + now - this.#since);
    this.#since = now;
  }

  #schedule(): void {
    const leftMs = Math.max(1, Math.min(REPORT_MS, this.#releasedMs - this.#playedMs));
    this.#cancel = this.#clock.at(this.#clock.now() + leftMs, () => {
      this.#advance();
      this.#report(this.#reply, this.#playedMs);
      if (this.#playedMs < this.#releasedMs) this.#schedule();
      else this.#since = undefined;
    });
  }
}
