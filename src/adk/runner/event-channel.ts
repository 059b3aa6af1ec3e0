/** Values from several writers for one reader. It ends after `close`, or with the error of `fail`. */
export class EventChannel<T> implements AsyncIterable<T> {
  #values: T[] = [];
  #end: { readonly error?: unknown } | undefined;
  #notify: () => void = () => {};

  /** Adds a value. Does nothing after the end. */
  push(value: T): void {
    if (this.#end !== undefined) return;
    this.#values.push(value);
    this.#notify();
  }

  /** Removes the values that nobody has read and that are not to be kept. */
  retain(isKept: (value: T) => boolean): void {
    this.#values = this.#values.filter(isKept);
  }

  /** Ends the channel after the values so far. */
  close(): void {
    this.#end ??= {};
    this.#notify();
  }

  /** Ends the channel with an error, after the values so far. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) {
        yield value;
        continue;
      }
      if (this.#end !== undefined) {
        if ('error' in this.#end) throw this.#end.error;
        return;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#notify = resolve;
      await promise;
    }
  }
}
