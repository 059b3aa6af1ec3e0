import { textOf } from '../core/index.ts';
import type { Content, FiringId, PartialEvent } from '../core/index.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';

type Piece = Extract<PartialEvent, { readonly type: 'partial' }>;

/** Shows a model's answer as it comes, and at its end whatever of it did not come that way. */
export class AnswerStream {
  readonly #screen: Screen;
  #answer: { readonly piece: Piece; readonly text: string } | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  piece(piece: Piece): void {
    const before = this.#answer?.piece;
    const goesOn = before?.firingId === piece.firingId && before.attempt === piece.attempt;
    if (!goesOn || before.kind !== piece.kind) this.#screen.freshLine();
    const text = goesOn ? (this.#answer?.text ?? '') : '';
    const words = printable(piece.text);
    if (piece.kind === 'text') this.#screen.prose(words);
    else this.#screen.prose(words, (plain) => this.#screen.paint('dim', plain));
    this.#answer = { piece, text: piece.kind === 'text' ? text + piece.text : text };
  }

  /** A new attempt begins: what came of the one before counts no more. */
  startOver(firingId: FiringId): void {
    if (this.#answer?.piece.firingId !== firingId) return;
    this.#answer = undefined;
    this.#screen.freshLine();
  }

  /** The whole answer, as the log has it. */
  whole(content: Content): void {
    const text = textOf(content);
    const shown = this.#answer?.text ?? '';
    this.#answer = undefined;
    const goesOn = shown !== '' && text.startsWith(shown);
    if (!goesOn) this.#screen.freshLine();
    this.#screen.prose(printable(goesOn ? text.slice(shown.length) : text));
    this.#screen.freshLine();
  }
}
