import { MOST_LETTERS } from './bounds.ts';
import { SearchLimitError } from './verify-errors.ts';

/** One kind of token as a state tells it apart: where it is, and what of it decides what may happen. */
export interface Letter {
  readonly place: number;
  /** For a firing: twice the attempts before this one, plus one while it waits for the next. */
  readonly stage: number;
  /** For a firing: how many tokens its remembered inputs took. */
  readonly held: readonly number[];
  /** By key slot of the place: a name, or BROKEN. */
  readonly names: readonly number[];
}

/** The key function throws for this token. */
export const BROKEN = -1;

const NONE: readonly number[] = [];

/** Gives every letter a small number, so that a marking is a word of them. */
export class Alphabet {
  readonly #letters: Letter[] = [];
  readonly #codes = new Map<string, number>();
  readonly #plain: number[] = [];

  letter(code: number): Letter {
    const letter = this.#letters[code];
    if (letter === undefined) throw new RangeError(`no letter has the number ${code}`);
    return letter;
  }

  /** A token of this place that carries nothing. */
  plain(place: number): number {
    const known = this.#plain[place];
    if (known !== undefined) return known;
    const code = this.code({ place, stage: 0, held: NONE, names: NONE });
    this.#plain[place] = code;
    return code;
  }

  code(letter: Letter): number {
    const key = `${letter.place}|${letter.stage}|${letter.held.join()}|${letter.names.join()}`;
    const known = this.#codes.get(key);
    if (known !== undefined) return known;
    const code = this.#letters.length;
    if (code >= MOST_LETTERS)
      throw new SearchLimitError(`more than ${MOST_LETTERS} kinds of tokens`);
    this.#letters.push(letter);
    this.#codes.set(key, code);
    return code;
  }

  /** The same letter at another stage. */
  at(code: number, stage: number): number {
    return this.code({ ...this.letter(code), stage });
  }
}
