import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { InputStream, OutputStream } from '../command/cli-context.ts';

export interface LineReaderOptions {
  readonly input: InputStream;
  readonly output: OutputStream;
  /**
   * `terminal`: a person edits lines. `transcript`: lines come from a file or pipe and are shown.
   * `silent`: they are not shown.
   */
  readonly mode: 'terminal' | 'transcript' | 'silent';
  /** Called for Ctrl-C at a terminal, where it is a key and not a signal. */
  readonly onInterrupt: () => void;
}

/**
 * Reads lines one by one from a terminal, file or pipe. Input typed while no read is pending is
 * kept and not echoed: it appears at the next prompt, and complete lines of it are read first.
 */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #lines: string[] = [];
  readonly #interface: Interface;
  #waiting:
    | { readonly remember: boolean; readonly resolve: (line: string | undefined) => void }
    | undefined;
  #ended = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    const { input, mode } = options;
    const terminal = mode === 'terminal';
    this.#interface = createInterface({
      input,
      terminal,
      ...(terminal && { output: this.#echo(), removeHistoryDuplicates: true }),
    });
    this.#interface.on('line', (line) => this.#take(line));
    this.#interface.on('close', () => this.#end());
    this.#interface.on('SIGINT', () => options.onInterrupt());
    this.#interface.on('history', (history: string[]) => {
      if (this.#waiting?.remember === false) history.shift();
    });
  }

  /** Reads the next line; undefined at the end of the input. `remember` adds it to the history. */
  async read(
    prompt: string,
    { remember = true }: { readonly remember?: boolean } = {},
  ): Promise<string | undefined> {
    const { mode, output } = this.#options;
    const line = this.#lines.shift();
    if (line !== undefined) {
      if (mode !== 'silent') output.write(`${prompt}${line}\n`);
      return line;
    }
    if (this.#ended) return undefined;
    const read = new Promise<string | undefined>((resolve) => {
      this.#waiting = { remember, resolve };
    });
    if (mode === 'terminal') {
      this.#interface.setPrompt(prompt);
      this.#interface.prompt(true);
      return read;
    }
    const received = await read;
    if (mode === 'transcript' && received !== undefined) output.write(`${prompt}${received}\n`);
    return received;
  }

  /** Closes the reader. A pending read resolves with undefined. */
  close(): void {
    this.#interface.close();
    this.#end();
  }

  #take(line: string): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#lines.push(line);
    else waiting.resolve(line);
  }

  #end(): void {
    this.#ended = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) return;
    // The prompt has no answer: the next output must start on a new line.
    if (this.#options.mode === 'terminal') this.#options.output.write('\n');
    waiting.resolve(undefined);
  }

  /** The terminal output of the line editor, which echoes only while a read is pending. */
  #echo(): Writable {
    const { output } = this.#options;
    const isReading = (): boolean => this.#waiting !== undefined;
    const echo = new Writable({
      write(chunk: Buffer, _encoding, done) {
        // Written synchronously: a delayed chunk could be echoed during a later read.
        if (isReading()) output.write(chunk);
        done();
      },
    });
    // The line editor reads the terminal width from it.
    Object.defineProperty(echo, 'columns', { get: () => output.columns });
    output.on('resize', () => echo.emit('resize'));
    return echo;
  }
}
