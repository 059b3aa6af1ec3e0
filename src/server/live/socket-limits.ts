import type { Clock } from '../../net/index.ts';
import { HttpError } from '../http/http-error.ts';
import { RateLimiter } from '../http/rate-limiter.ts';
import { AudioAllowance } from './audio-allowance.ts';

/** Messages per minute besides audio. A client reports twice a second what it has played. */
const MESSAGES_PER_MINUTE = 1_200;
/** Messages per minute that are journaled, such as edges of speech. */
const JOURNALED_PER_MINUTE = 240;

const BYTES_PER_SAMPLE = 2;

/** Close codes of a WebSocket that no error has ended. */
export const CLOSE_NORMAL = 1_000;
export const CLOSE_GOING_AWAY = 1_001;
/** The reason of `CLOSE_GOING_AWAY`. */
export const GOING_AWAY_REASON = 'the server is shutting down';

/** What the messages of a protocol are called in its errors. */
export interface MessageNames {
  readonly messages: string;
  readonly journaled: string;
}

/** Limits what one client of a live session sends. */
export class SocketLimits {
  readonly #names: MessageNames;
  readonly #messages: RateLimiter;
  readonly #journaled: RateLimiter;
  readonly #audio: AudioAllowance;

  constructor(clock: Clock, names: MessageNames) {
    this.#audio = new AudioAllowance(clock);
    this.#names = names;
    this.#messages = new RateLimiter(MESSAGES_PER_MINUTE, clock);
    this.#journaled = new RateLimiter(JOURNALED_PER_MINUTE, clock);
  }

  /** Counts a message. @throws HttpError 429 */
  takeMessage(): void {
    if (this.#messages.take('') > 0) throw tooMany(MESSAGES_PER_MINUTE, this.#names.messages);
  }

  /** Counts a message that is journaled. @throws HttpError 429 */
  takeJournaled(): void {
    if (this.#journaled.take('') > 0) throw tooMany(JOURNALED_PER_MINUTE, this.#names.journaled);
  }

  /** Counts audio with `rate` samples per second. @throws HttpError 429 */
  takeAudio(bytes: number, rate: number): void {
    if (!this.#audio.take((bytes / BYTES_PER_SAMPLE / rate) * 1000))
      throw new HttpError(429, 'Audio comes faster than real time. Send it as it is recorded.');
  }
}

function tooMany(limit: number, what: string): HttpError {
  return new HttpError(429, `More than ${limit} ${what} came in a minute.`);
}
