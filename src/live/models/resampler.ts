/**
 * Changes the sample rate of a stream of PCM with 16 bits and one channel. It interpolates between neighbors, and averages
 * the samples that a lower rate merges. Chunks of any size give the same stream as one chunk.
 */
export class Resampler {
  readonly #step: number;
  /** Samples that the next output still needs. */
  #samples: number[] = [];
  /** The position of the next output sample in `#samples`. */
  #position = 0;

  /** Rates are samples per second. */
  constructor(fromRate: number, toRate: number) {
    this.#step = fromRate / toRate;
  }

  /** Converts the next chunk. A half sample at its end is dropped. */
  convert(pcm: Uint8Array): Uint8Array {
    const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    for (let at = 0; at + 1 < pcm.byteLength; at += 2) this.#samples.push(view.getInt16(at, true));
    const output: number[] = [];
    // The last sample that an output needs is the one after its end.
    while (Math.floor(this.#position + Math.max(this.#step, 1)) < this.#samples.length) {
      output.push(this.#step > 1 ? this.#average() : this.#interpolate());
      this.#position += this.#step;
    }
    const used = Math.floor(this.#position);
    this.#samples.splice(0, used);
    this.#position -= used;
    const converted = new DataView(new ArrayBuffer(output.length * 2));
    for (const [index, sample] of output.entries())
      converted.setInt16(index * 2, Math.round(sample), true);
    return new Uint8Array(converted.buffer);
  }

  #interpolate(): number {
    const at = Math.floor(this.#position);
    const part = this.#position - at;
    return this.#read(at) * (1 - part) + this.#read(at + 1) * part;
  }

  /** The mean of the samples from here to the next output, each by the part that is in between. */
  #average(): number {
    const end = this.#position + this.#step;
    let sum = 0;
    for (let at = Math.floor(this.#position); at < end; at++)
      sum += this.#read(at) * (Math.min(end, at + 1) - Math.max(this.#position, at));
    return sum / this.#step;
  }

  #read(at: number): number {
    return this.#samples[at] ?? 0;
  }
}
