import { contentText } from '../../core/index.ts';
import type { Content, FiringId, PartialEvent } from '../../core/index.ts';
import { printable } from '../terminal/printable.ts';
import type { Screen } from '../terminal/screen.ts';

type Piece = Extract<PartialEvent, { readonly type: 'partial' }>;

/** Shows a model's response while it streams, and at its end any part that did not stream. */
export class AnswerStream {
  readonly #screen: Screen;
  #answer: { readonly piece: Piece; readonly text: string } | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  append(piece: Piece): void {
    const before = this.#answer?.piece;
    const continues = before?.firingId === piece.firingId && before.attempt === piece.attempt;
    if (!continues || before.kind !== piece.kind) this.#screen.endLine();
    const text = continues ? (this.#answer?.text ?? '') : '';
    const printableText = printable(piece.text);
    if (piece.kind === 'text') this.#screen.writeWrapped(printableText);
    else this.#screen.writeWrapped(printableText, (plain) => this.#screen.paint('dim', plain));
    this.#answer = { piece, text: piece.kind === 'text' ? text + piece.text : text };
  }

  /** A new attempt starts: the text of the attempt before is void. */
  restart(firingId: FiringId): void {
    if (this.#answer?.piece.firingId !== firingId) return;
    this.#answer = undefined;
    this.#screen.endLine();
  }

  /** The complete response, as the log has it. */
  finish(content: Content): void {
    const text = contentText(content);
    const shown = this.#answer?.text ?? '';
    this.#answer = undefined;
    const continues = shown !== '' && text.startsWith(shown);
    if (!continues) this.#screen.endLine();
    this.#screen.writeWrapped(printable(continues ? text.slice(shown.length) : text));
    this.#screen.endLine();
  }
}
