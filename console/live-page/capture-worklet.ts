/** Sends what the microphone hears as PCM with 16 bits, in frames of 20 ms. */
class Capture extends AudioWorkletProcessor {
  readonly #frame = new Int16Array(Math.round(sampleRate / 50));
  #filled = 0;

  process(inputs: Float32Array[][]): boolean {
    for (const sample of inputs[0]?.[0] ?? []) {
      this.#frame[this.#filled++] = Math.round(Math.max(-1, Math.min(1, sample)) * 32_767);
      if (this.#filled < this.#frame.length) continue;
      this.#filled = 0;
      this.port.postMessage(this.#frame.slice());
    }
    return true;
  }
}

registerProcessor('capture', Capture);
