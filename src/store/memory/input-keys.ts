import type { InputSeq } from '../store.ts';

/** With more keys, they are found by a map. */
const MAX_SEARCHED = 8;

/** The dedupe keys of the inputs of a session. Inputs are numbered from 1, so a key is found by its position. */
export class InputKeys {
  #keys: string[] = [];
  #seqs: Map<string, InputSeq> | undefined;

  /** The number of the last input; 0 when there is none. */
  get last(): InputSeq {
    return this.#keys.length;
  }

  /** In the order of the inputs. */
  get all(): readonly string[] {
    return this.#keys;
  }

  find(key: string): InputSeq | undefined {
    if (this.#keys.length > MAX_SEARCHED) {
      this.#seqs ??= new Map(this.#keys.map((one, index) => [one, index + 1]));
      return this.#seqs.get(key);
    }
    const index = this.#keys.indexOf(key);
    return index === -1 ? undefined : index + 1;
  }

  /** Adds a key that is new, and returns the number of its input. */
  add(key: string): InputSeq {
    const inputSeq = this.#keys.push(key);
    this.#seqs?.set(key, inputSeq);
    return inputSeq;
  }

  /** Gives back what can be computed again. */
  pack(): void {
    this.#seqs = undefined;
    this.#keys = this.#keys.slice();
  }
}
