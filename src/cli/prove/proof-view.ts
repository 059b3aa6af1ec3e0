import type { Clock } from '../../net/index.ts';
import { formatProperty, isProved, traceToSvg } from '../../verify/index.ts';
import type { ProofProgress, ProofReport, PropertyResult } from '../../verify/index.ts';
import { formatReportEnd, formatReportStart, formatResult } from '../../verify/internal.ts';
import type { ProofStart } from '../../verify/internal.ts';
import type { OutputStream } from '../command/cli-context.ts';
import type { Paint } from '../terminal/paint.ts';
import { oneLine, printable } from '../terminal/printable.ts';

/** Writes a proof while it runs. */
export interface ProofView {
  readonly start: (start: ProofStart) => void;
  readonly result: (result: PropertyResult) => void;
  readonly progress: (progress: ProofProgress) => void;
  readonly end: (report: ProofReport, brokenRules: readonly string[] | undefined) => void;
}

const ERASE_LINE = '\r\u001b[2K';
const DEFAULT_WIDTH = 100;
const FRAME_MS = 100;
/** Without a terminal, progress is a line of its own, at this interval. */
const LINE_MS = 10_000;

/** Writes text for a person: each verdict as it comes and, on a terminal, the number of states below it. */
export class TextProofView implements ProofView {
  readonly #output: OutputStream;
  readonly #paint: Paint;
  readonly #clock: Clock;
  #shared: readonly string[] = [];
  #drawn = false;
  #progressAt: number;

  constructor(output: OutputStream, paint: Paint, clock: Clock) {
    this.#output = output;
    this.#paint = paint;
    this.#clock = clock;
    this.#progressAt = clock.now() + this.#interval;
  }

  start(start: ProofStart): void {
    this.#shared = start.over;
    this.#lines([...formatReportStart(start), '']);
  }

  result(result: PropertyResult): void {
    this.#lines(formatResult(result, this.#shared));
  }

  progress({ properties, states }: ProofProgress): void {
    const now = this.#clock.now();
    if (now < this.#progressAt) return;
    this.#progressAt = now + this.#interval;
    const names = properties.map(({ name }) => name).join(', ');
    const text = `${states.toLocaleString('en')} states: ${names}`;
    const shown = this.#paint('dim', oneLine(text, (this.#output.columns ?? DEFAULT_WIDTH) - 1));
    if (this.#output.isTTY === true) this.#output.write(`${ERASE_LINE}${shown}`);
    else this.#output.write(`${shown}\n`);
    this.#drawn = this.#output.isTTY === true;
  }

  end(report: ProofReport, brokenRules: readonly string[] | undefined): void {
    const rules =
      brokenRules === undefined
        ? []
        : brokenRules.length === 0
          ? ['✔ rules of an agent: kept (by its arcs)']
          : [
              '✖ rules of an agent: broken (by its arcs)',
              ...brokenRules.map((problem) => `  ${problem}`),
            ];
    this.#lines(['', ...formatReportEnd(report), ...rules]);
  }

  get #interval(): number {
    return this.#output.isTTY === true ? FRAME_MS : LINE_MS;
  }

  #lines(lines: readonly string[]): void {
    if (this.#drawn) this.#output.write(ERASE_LINE);
    this.#drawn = false;
    const painted = printable(lines.join('\n'))
      .split('\n')
      .map((line) => paintReportLine(line, this.#paint));
    this.#output.write(`${painted.join('\n')}\n`);
  }
}

function paintReportLine(line: string, paint: Paint): string {
  if (line.startsWith('✔')) return paint('green', line);
  if (line.startsWith('✖')) return paint('red', line);
  return line.startsWith('?') ? paint('yellow', line) : line;
}

/** The shortest time between two lines of progress. */
const PROGRESS_LINE_MS = 250;

/**
 * Writes one JSON object per line for a program: each verdict as it comes, then the rules and the report. With a clock,
 * also the net and its bounds first, and the progress of the search.
 */
export class JsonProofView implements ProofView {
  readonly #output: OutputStream;
  readonly #agent: string;
  readonly #clock: Clock | undefined;
  readonly #toTest: (result: PropertyResult) => string | undefined;
  #progressAt = 0;

  constructor(
    output: OutputStream,
    agent: string,
    options: {
      /** With it, progress is written too. */
      readonly clock: Clock | undefined;
      /** Returns the text of a test file for a refuted property. */
      readonly toTest: (result: PropertyResult) => string | undefined;
    },
  ) {
    this.#output = output;
    this.#agent = agent;
    this.#clock = options.clock;
    this.#toTest = options.toTest;
  }

  start(start: ProofStart): void {
    if (this.#clock !== undefined) this.#write({ type: 'start', ...start });
  }

  progress({ properties, states }: ProofProgress): void {
    const now = this.#clock?.now();
    if (now === undefined || now < this.#progressAt) return;
    this.#progressAt = now + PROGRESS_LINE_MS;
    this.#write({ type: 'progress', states, properties: properties.map(({ name }) => name) });
  }

  result(result: PropertyResult): void {
    const { property, ...rest } = result;
    const { name, kind } = property;
    const test = this.#toTest(result);
    this.#write({ type: 'property', name, kind, text: formatProperty(property), ...rest, test });
  }

  end({ results, ...facts }: ProofReport, brokenRules: readonly string[] | undefined): void {
    const problems = brokenRules ?? [];
    if (brokenRules !== undefined)
      this.#write({ type: 'rules', kept: problems.length === 0, problems });
    const proved = isProved({ results, ...facts }) && problems.length === 0;
    this.#write({ type: 'report', agent: this.#agent, proved, ...facts });
  }

  #write(line: Readonly<Record<string, unknown>>): void {
    this.#output.write(`${JSON.stringify(line)}\n`);
  }
}

/** The first counterexample as SVG; undefined if there is none. */
export function drawFirstRefutation({ results }: ProofReport): string | undefined {
  const refuted = results.find(({ trace }) => trace !== undefined);
  if (refuted?.trace === undefined) return undefined;
  return traceToSvg(refuted.trace, `${refuted.property.name}: refuted`);
}
