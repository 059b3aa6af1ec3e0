/** Speech is this many times louder than the noise before it. */
const OVER_NOISE = 3;
/** Quieter than this is never speech: the range is 0 to 1. */
const MIN_LEVEL = 0.01;
const START_MS = 60;
const DEFAULT_SILENCE_MS = 600;
/** How fast the estimate of the noise follows, for each 20 ms: up slowly, down fast. */
const RISE = 0.005;
/** During speech, so that a fan that was switched on is noise after half a minute. */
const RISE_IN_SPEECH = 0.0005;
const FALL = 0.2;
const STEP_MS = 20;

/** Finds speech in audio by its energy: a start after 60 ms of speech, an end after a silence. */
export class EnergyDetector {
  readonly #samplesPerMs: number;
  readonly #silenceMs: number;
  #noise = MIN_LEVEL / OVER_NOISE;
  /** How long the audio has been unlike the present state. */
  #changedMs = 0;
  #isSpeaking = false;

  /**
   * @param sampleRate samples per second
   * @param silenceMs the silence that ends speech, in milliseconds. Default: 600.
   */
  constructor(sampleRate: number, silenceMs: number = DEFAULT_SILENCE_MS) {
    this.#samplesPerMs = sampleRate / 1000;
    this.#silenceMs = silenceMs;
  }

  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  /** Reads samples, best 10 to 100 ms of them. Returns the edge that they complete, if any. */
  read(samples: Int16Array): 'started' | 'stopped' | undefined {
    const durationMs = samples.length / this.#samplesPerMs;
    const level = energyLevel(samples);
    const isLoud = level > Math.max(MIN_LEVEL, OVER_NOISE * this.#noise);
    const rise = this.#isSpeaking ? RISE_IN_SPEECH : RISE;
    const weight = Math.min(1, ((level > this.#noise ? rise : FALL) * durationMs) / STEP_MS);
    this.#noise += (level - this.#noise) * weight;
    this.#changedMs = isLoud === this.#isSpeaking ? 0 : this.#changedMs + durationMs;
    if (this.#changedMs < (this.#isSpeaking ? this.#silenceMs : START_MS)) return undefined;
    this.#changedMs = 0;
    this.#isSpeaking = !this.#isSpeaking;
    return this.#isSpeaking ? 'started' : 'stopped';
  }

  /** The audio ends. Returns true if that ends speech. */
  stop(): boolean {
    const wasSpeaking = this.#isSpeaking;
    this.#isSpeaking = false;
    this.#changedMs = 0;
    return wasSpeaking;
  }
}

/** The root mean square of samples: 0 to 1. */
export function energyLevel(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += (sample / 32_768) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
}
