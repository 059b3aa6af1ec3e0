import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import type { InputStream, OutputStream } from '../command/cli-context.ts';

export interface LineReaderOptions {
  readonly input: InputStream;
  readonly output: OutputStream;
  /** `terminal`: a person edits lines. `transcript`: lines come from elsewhere, and are shown. `silent`: and are not. */
  readonly mode: 'terminal' | 'transcript' | 'silent';
  /** Ctrl-C at a terminal, which is a key there and no signal. */
  readonly onInterrupt: () => void;
}

/**
 * Reads lines one by one, whatever they come from. What is typed while nobody reads is kept and not shown: it is there
 * at the next prompt, and whole lines of it are read first.
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

  /** The next line; undefined when there is none any more. `remember` keeps it for the up arrow. */
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

  /** Whoever waits for a line gets none. */
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
    // The prompt has no line: what comes next must not stand beside it.
    if (this.#options.mode === 'terminal') this.#options.output.write('\n');
    waiting.resolve(undefined);
  }

  /** The terminal, while somebody is asked. */
  #echo(): Writable {
    const { output } = this.#options;
    const isReading = (): boolean => this.#waiting !== undefined;
    const echo = new Writable({
      write(chunk: Buffer, _encoding, done) {
        // Judged and passed on at once: a chunk that waited would be judged by what is asked later.
        if (isReading()) output.write(chunk);
        done();
      },
    });
    // The line editor asks it how wide the terminal is.
    Object.defineProperty(echo, 'columns', { get: () => output.columns });
    output.on('resize', () => echo.emit('resize'));
    return echo;
  }
}
