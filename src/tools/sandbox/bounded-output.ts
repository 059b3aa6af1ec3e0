/** Keeps the beginning and the end of a byte stream in bounded memory. */
export class BoundedOutput {
  readonly #half: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#half = Math.ceil(maxBytes / 2);
  }

  get truncated(): boolean {
    return this.#droppedBytes > 0;
  }

  add(chunk: Buffer): void {
    const toHead = chunk.subarray(0, this.#half - this.#headBytes);
    this.#head.push(toHead);
    this.#headBytes += toHead.length;
    const tail = Buffer.concat([this.#tail, chunk.subarray(toHead.length)]);
    const drop = Math.max(0, tail.length - this.#half);
    this.#droppedBytes += drop;
    this.#tail = Buffer.from(tail.subarray(drop));
  }

  /**
   * The kept bytes as UTF-8. Invalid bytes become U+FFFD, and a line replaces the dropped middle.
   */
  text(): string {
    const head = Buffer.concat(this.#head);
    return this.truncated
      ? `${head.toString()}\n[${this.#droppedBytes} bytes left out]\n${this.#tail.toString()}`
      : Buffer.concat([head, this.#tail]).toString();
  }
}
