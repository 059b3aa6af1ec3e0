/** An edge of the client's voice detection. */
export type ClientEdge = 'started' | 'stopped';

/** An edge of speech that waits for a connection. */
export interface QueuedEdge {
  readonly edge: ClientEdge;
  /** Its utterance, if the net has the edge already. */
  readonly utterance?: string | undefined;
}

type QueuedInput = { readonly pcm: Uint8Array } | QueuedEdge;

/** What the user says until somebody can hear it, in order. */
export class InputQueue {
  #inputs: QueuedInput[] = [];
  #bytes = 0;
  #lastEdge: ClientEdge | undefined;

  /** Adds audio. The oldest audio beyond `maxBytes` is dropped. */
  addAudio(pcm: Uint8Array, maxBytes: number): void {
    this.#inputs.push({ pcm });
    this.#bytes += pcm.byteLength;
    while (this.#bytes > maxBytes) {
      const [oldest] = this.#inputs.splice(
        this.#inputs.findIndex((input) => 'pcm' in input),
        1,
      );
      if (oldest !== undefined && 'pcm' in oldest) this.#bytes -= oldest.pcm.byteLength;
    }
  }

  /** Adds an edge of speech, unless it repeats the last one. */
  addEdge(edge: ClientEdge, utterance?: string): void {
    if (edge === this.#lastEdge) return;
    this.#lastEdge = edge;
    this.#inputs.push({ edge, utterance });
  }

  /** Takes everything. */
  takeAll(): readonly QueuedInput[] {
    this.#bytes = 0;
    this.#lastEdge = undefined;
    return this.#inputs.splice(0);
  }
}
