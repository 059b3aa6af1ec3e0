import { InvalidInputError, type OptionNames } from '../../../core/index.ts';

/** Limits of a live connection. */
export type LiveLimits = {
  /** From the start of `open` until the model accepts input, in milliseconds. Default: 10,000. */
  readonly openTimeoutMs?: number;
  /** The largest message from the server, in bytes. A larger one closes the connection. Default: 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Audio and images are dropped while more bytes than this wait to be sent. Default: 256 KiB. */
  readonly maxBufferedBytes?: number;
  /** How often the server is pinged, in milliseconds. Default: 20,000. */
  readonly pingIntervalMs?: number;
  /** Silence of the server after which the connection is lost, in milliseconds. Default: 60,000. */
  readonly deadAfterMs?: number;
  /** How long the server has to confirm that the connection closes, in milliseconds. Default: 1,000. */
  readonly closeTimeoutMs?: number;
};

const DEFAULTS: Required<LiveLimits> = {
  openTimeoutMs: 10_000,
  maxMessageBytes: 4 * 1024 * 1024,
  maxBufferedBytes: 256 * 1024,
  pingIntervalMs: 20_000,
  // Pongs of Gemini are known to take up to 30 seconds while it is busy.
  deadAfterMs: 60_000,
  closeTimeoutMs: 1_000,
};

/** The names of the limits. */
export const LIVE_LIMIT_NAMES: OptionNames<LiveLimits> = {
  openTimeoutMs: true,
  maxMessageBytes: true,
  maxBufferedBytes: true,
  pingIntervalMs: true,
  deadAfterMs: true,
  closeTimeoutMs: true,
};

/** @throws InvalidInputError for a limit that is not a positive number */
export function withDefaultLimits(limits: LiveLimits = {}): Required<LiveLimits> {
  for (const [name, value] of Object.entries(limits)) {
    if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
      throw new InvalidInputError(`limits.${name}`, `must be a number above 0; it is ${value}.`);
    }
  }
  return { ...DEFAULTS, ...limits };
}
