import { MAX_TOKEN_CLASSES } from '../properties/bounds.ts';
import { SearchLimitError } from '../properties/verify-errors.ts';

/** One kind of token as a state tells it apart: where it is, and what of it decides what may happen. */
export interface TokenClass {
  readonly place: number;
  /** For a firing: twice the attempts before this one, plus one while it waits for the next. */
  readonly stage: number;
  /** For a firing: how many tokens its remembered inputs took. */
  readonly held: readonly number[];
  /** By key slot of the place: a name, or BROKEN. */
  readonly names: readonly number[];
}

/** The key function throws for this token. */
export const BROKEN_KEY = -1;

const NONE: readonly number[] = [];

/** Gives every letter a small number, so that a marking is a word of them. */
export class TokenClasses {
  readonly #classes: TokenClass[] = [];
  readonly #codes = new Map<string, number>();
  readonly #plainCodes: number[] = [];

  get(code: number): TokenClass {
    const tokenClass = this.#classes[code];
    if (tokenClass === undefined) throw new RangeError(`no letter has the number ${code}`);
    return tokenClass;
  }

  /** A token of this place that carries nothing. */
  plainCode(place: number): number {
    const known = this.#plainCodes[place];
    if (known !== undefined) return known;
    const code = this.codeFor({ place, stage: 0, held: NONE, names: NONE });
    this.#plainCodes[place] = code;
    return code;
  }

  codeFor(tokenClass: TokenClass): number {
    const key = `${tokenClass.place}|${tokenClass.stage}|${tokenClass.held.join()}|${tokenClass.names.join()}`;
    const known = this.#codes.get(key);
    if (known !== undefined) return known;
    const code = this.#classes.length;
    if (code >= MAX_TOKEN_CLASSES)
      throw new SearchLimitError(`more than ${MAX_TOKEN_CLASSES} kinds of tokens`);
    this.#classes.push(tokenClass);
    this.#codes.set(key, code);
    return code;
  }

  /** The same letter at another stage. */
  withStage(code: number, stage: number): number {
    return this.codeFor({ ...this.get(code), stage });
  }
}
