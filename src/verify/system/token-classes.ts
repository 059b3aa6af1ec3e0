import { MAX_TOKEN_CLASSES } from '../properties/bounds.ts';
import { NO_COLOR } from './labels.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

/** An equivalence class of tokens: its place, and the facts about a token that decide what may happen. */
export interface TokenClass {
  readonly place: number;
  /** For a firing: twice the number of previous attempts, plus one while it waits for the next attempt. */
  readonly attemptState: number;
  /** For a firing: the number of tokens that each of its remembered inputs took. */
  readonly inputCounts: readonly number[];
  /** By key slot of the place: the number of the key, or BROKEN_KEY. */
  readonly names: readonly number[];
  /** The color of its label. */
  readonly color: number;
}

/** Stands for a key whose key function throws for this token. */
export const BROKEN_KEY = -1;

const NONE: readonly number[] = [];

/** Assigns a small code to every token class, so that a marking is a list of codes. */
export class TokenClasses {
  readonly #classes: TokenClass[] = [];
  readonly #codes = new Map<string, number>();
  readonly #plainCodes: number[] = [];
  /** By code: the class without keys, as text. */
  readonly #signatures: string[] = [];

  get(code: number): TokenClass {
    const tokenClass = this.#classes[code];
    if (tokenClass === undefined) throw new RangeError(`no token class has the code ${code}`);
    return tokenClass;
  }

  /** Returns the code of a token of this place without keys. */
  plainCode(place: number): number {
    const known = this.#plainCodes[place];
    if (known !== undefined) return known;
    const plain = { attemptState: 0, inputCounts: NONE, names: NONE, color: NO_COLOR };
    const code = this.codeFor({ place, ...plain });
    this.#plainCodes[place] = code;
    return code;
  }

  /** Returns the class of a code without its keys, as text. */
  signature(code: number): string {
    return this.#signatures[code] ?? '';
  }

  codeFor(tokenClass: TokenClass): number {
    const { place, attemptState, inputCounts, names, color } = tokenClass;
    const signature = `${place}.${attemptState}.${inputCounts.join()}.${color}`;
    const key = `${signature}|${names.join()}`;
    const known = this.#codes.get(key);
    if (known !== undefined) return known;
    const code = this.#classes.length;
    if (code >= MAX_TOKEN_CLASSES)
      throw new SearchLimitError(`more than ${MAX_TOKEN_CLASSES} token classes`);
    this.#classes.push(tokenClass);
    this.#signatures.push(signature);
    this.#codes.set(key, code);
    return code;
  }

  /** Returns the code of the same class with these keys. */
  withNames(code: number, names: readonly number[]): number {
    const known = this.#codes.get(`${this.signature(code)}|${names.join()}`);
    return known ?? this.codeFor({ ...this.get(code), names });
  }

  /** Returns the code of the same class with another attempt state. */
  withAttemptState(code: number, attemptState: number): number {
    return this.codeFor({ ...this.get(code), attemptState });
  }
}
