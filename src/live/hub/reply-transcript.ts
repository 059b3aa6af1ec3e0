import { splitText } from '../models/limit-signal.ts';

/**
 * The text of one reply: it arrives in progress, becomes final part by part, and is taken in parts that fit into a signal.
 * Nothing is taken twice, and nothing is lost, however the parts overlap.
 */
export class ReplyTranscript {
  /** Final text that was not taken. */
  #final = '';
  /** Text in progress that was not taken. */
  #progress = '';
  /** Text in progress that was taken before its final form arrived. */
  #taken = '';

  /** The length of the text that was not taken, in characters. */
  get length(): number {
    return this.#final.length + this.#progress.length;
  }

  /** Adds text in progress. */
  add(text: string): void {
    this.#progress += text;
  }

  /** The final form of the text in progress, or of the beginning of it. It replaces a text in progress that differs. */
  settle(text: string): void {
    const progress = this.#taken + this.#progress;
    const isBeginning = progress.startsWith(text);
    if (!isBeginning && !text.startsWith(this.#taken)) {
      // What was taken differs. The rest stays as it arrived.
      this.#final += this.#progress;
      this.#progress = '';
      this.#taken = '';
      return;
    }
    this.#final += text.slice(this.#taken.length);
    this.#progress = isBeginning ? progress.slice(Math.max(text.length, this.#taken.length)) : '';
    this.#taken = this.#taken.slice(text.length);
  }

  /** The text that the next `take` returns. */
  peek(): string {
    return splitText(this.#final + this.#progress)[0] ?? '';
  }

  /** Takes the text, as much of it as one signal may have. */
  take(): string {
    const text = this.peek();
    this.#taken += text.slice(this.#final.length);
    this.#progress = this.#progress.slice(Math.max(0, text.length - this.#final.length));
    this.#final = this.#final.slice(text.length);
    return text;
  }
}
