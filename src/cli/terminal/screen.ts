import type { OutputStream } from '../command/cli-context.ts';
import { formatDuration } from './duration.ts';
import type { Clock } from '../../net/index.ts';
import type { Paint, Style } from './paint.ts';
import { oneLine, printable } from './printable.ts';
import { textWidth } from './text-width.ts';

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const FRAME_MS = 100;
const ERASE_LINE = '\r\u001b[2K';
const DEFAULT_WIDTH = 100;

export interface ScreenOptions {
  readonly output: OutputStream;
  readonly paint: Paint;
  readonly clock: Clock;
}

/** Writes text from top to bottom and, on a terminal, a status line below it. */
export class Screen {
  readonly paint: Paint;
  readonly #output: OutputStream;
  readonly #clock: Clock;
  /** The number of columns that the current line uses. */
  #column = 0;
  #drawn = false;
  #status: { readonly text: string; readonly since: number } | undefined;
  #cancel: () => void = () => {};

  constructor({ output, paint, clock }: ScreenOptions) {
    this.paint = paint;
    this.#output = output;
    this.#clock = clock;
  }

  /** The number of columns of a line. */
  get width(): number {
    return this.#output.columns ?? DEFAULT_WIDTH;
  }

  /** Continues the current line. */
  write(text: string): void {
    if (text === '') return;
    this.#erase();
    this.#output.write(text);
    this.#column = columnAfter(text, this.#column);
  }

  /**
   * Continues the current line and breaks lines between words. `style` is applied to the result.
   */
  writeWrapped(text: string, style: (text: string) => string = (plain) => plain): void {
    this.write(style(this.#output.isTTY === true ? this.#wrap(text) : text));
  }

  /** Writes a separate line. */
  line(text = ''): void {
    this.endLine();
    this.write(`${text}\n`);
  }

  /** Writes a line with a styled mark at its beginning. */
  mark(style: Style, mark: string, text: string): void {
    this.line(`${this.paint(style, mark)} ${printable(text)}`);
  }

  /** Ends the current line, if it has text. */
  endLine(): void {
    if (this.#column > 0) this.write('\n');
  }

  /** Shows a status with its duration until the next call; without a text, removes it. */
  status(text?: string): void {
    if (text === this.#status?.text) return;
    this.#cancel();
    this.#erase();
    this.#status = text === undefined ? undefined : { text, since: this.#clock.now() };
    if (this.#status !== undefined && this.#output.isTTY === true) this.#scheduleFrame();
  }

  #wrap(text: string): string {
    let column = this.#column;
    return text.replace(/([ \t]*)(\n|[^\s]*)/g, (piece, space: string, word: string) => {
      const breaks =
        space !== '' && column > 0 && column + textWidth(space) + textWidth(word) > this.width;
      const written = breaks ? `\n${word}` : piece;
      column = columnAfter(written, column);
      return written;
    });
  }

  #scheduleFrame(): void {
    this.#cancel = this.#clock.at(this.#clock.now() + FRAME_MS, () => {
      this.#draw();
      this.#scheduleFrame();
    });
  }

  #draw(): void {
    if (this.#status === undefined || this.#column > 0) return;
    const { text, since } = this.#status;
    const ms = this.#clock.now() - since;
    const frame = FRAMES.charAt(Math.floor(ms / FRAME_MS) % FRAMES.length);
    const seconds = ms < 1000 ? '' : ` ${formatDuration(Math.floor(ms / 1000) * 1000)}`;
    // A status that wraps could not be erased.
    const shown = oneLine(`${frame} ${text}${seconds}`, this.width - 1);
    this.#output.write(`${ERASE_LINE}${this.paint('dim', shown)}`);
    this.#drawn = true;
  }

  #erase(): void {
    if (this.#drawn) this.#output.write(ERASE_LINE);
    this.#drawn = false;
  }
}

/** The column after writing a text at a column. */
function columnAfter(text: string, column: number): number {
  const newline = text.lastIndexOf('\n');
  return newline < 0 ? column + textWidth(text) : textWidth(text.slice(newline + 1));
}
