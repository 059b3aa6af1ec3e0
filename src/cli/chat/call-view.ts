import { calledAgentWaits, isJsonObject } from '../../core/index.ts';
import type { CallId, Json, LogEventByType, ToolOutcome } from '../../core/index.ts';
import { formatDuration } from '../terminal/duration.ts';
import { jsonText, oneLine, printable } from '../terminal/printable.ts';
import type { Screen } from '../terminal/screen.ts';
import { textWidth } from '../terminal/text-width.ts';

const ARGS_WIDTH = 40;

interface OpenCall {
  readonly name: string;
  readonly args: Json;
  readonly startedAt: number;
  readonly runs: boolean;
  readonly progress?: string;
}

/** Shows the calls of a turn: a line when a call starts, and a line for its result. */
export class CallView {
  readonly #screen: Screen;
  readonly #open = new Map<CallId, OpenCall>();
  readonly #shownDetails = new Map<CallId, string>();
  /** The call whose line is the last on the screen. Its result needs no name. */
  #last: CallId | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** The running calls as a status text; undefined if none runs. */
  get running(): string | undefined {
    const running = [...this.#open.values()].filter(({ runs }) => runs);
    if (running.length === 0) return undefined;
    const names = running.map(({ name, progress }) =>
      progress === undefined ? name : `${name} (${progress})`,
    );
    return `running ${names.join(', ')}`;
  }

  get anyOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Another line follows, of this call or of none. */
  interruptedBy(callId: CallId | undefined): void {
    if (callId !== this.#last) this.#last = undefined;
  }

  started({ callId, name, args, needs, at }: LogEventByType<'tool.call'>): void {
    const runs = needs === 'nothing';
    this.#open.set(callId, { name, args, startedAt: at, runs });
    // A waiting call is shown when a person is asked about it.
    if (runs) this.#callLine(callId, name, args, this.#screen.width);
  }

  /** Shows a call with all its arguments. A person who approves a call must see all of it. */
  showInFull(callId: CallId, name: string, args: Json): void {
    if (this.#last !== callId) this.#callLine(callId, name, args, Infinity);
  }

  progressed(callId: CallId | undefined, progress: string): void {
    if (callId !== undefined) this.#change(callId, { progress });
  }

  retried({ callId, name, attempt, reason, at }: LogEventByType<'tool.attempt'>): void {
    this.#change(callId, { startedAt: at, runs: true });
    const details = reason === 'crash' ? 'the process died while it ran' : 'it failed';
    this.#screen.mark('yellow', '↻', `${name} runs again, attempt ${attempt}: ${details}.`);
  }

  /** The call ran and now waits for its result from outside. */
  pending({ callId, name, request }: LogEventByType<'tool.pending'>): void {
    const call = this.#open.get(callId);
    this.#change(callId, { runs: false });
    const agentWaits = calledAgentWaits(request);
    if (agentWaits !== undefined) {
      for (const wait of agentWaits)
        this.showInFull(wait.callId, [...wait.path, wait.name].join(' › '), wait.args);
      return;
    }
    this.showInFull(callId, name, call?.args ?? {});
    if (request !== undefined) this.showDetails(callId, request);
  }

  /**
   * Shows the question of a waiting call, or what is known so far. Repeated details are shown once.
   */
  showDetails(callId: CallId, request: Json): void {
    const details = typeof request === 'string' ? request : responseText(request);
    if (this.#shownDetails.get(callId) === details) return;
    this.#shownDetails.set(callId, details);
    this.#lineBelow(callId, details, 'dim', '│');
  }

  answered(event: LogEventByType<'tool.answered'>, isShown: boolean): void {
    const { callId, decision, message, at } = event;
    this.#change(callId, { startedAt: at, runs: decision === 'approved' });
    if (isShown) return;
    const call = this.#open.get(callId);
    if (call !== undefined) this.showInFull(callId, call.name, call.args);
    this.#lineBelow(
      callId,
      message === undefined ? decision : `${decision}: ${message}`,
      'dim',
      '│',
    );
  }

  ended(event: LogEventByType<'tool.result'>): void {
    const { callId, name, outcome, response, durationMs, at } = event;
    const call = this.#open.get(callId);
    const label = callId === this.#last ? [] : [callText(name, call?.args)];
    const status = outcome === 'ok' ? [] : [OUTCOMES[outcome]];
    const ms = durationMs ?? (call?.runs === true ? at - call.startedAt : undefined);
    const duration = ms === undefined ? [] : [formatDuration(ms)];
    const text = [...label, ...status, ...duration, responseText(response)].join(' · ');
    this.#lineBelow(callId, text, outcome === 'ok' ? 'dim' : 'yellow', '└');
    this.#open.delete(callId);
  }

  /** Forgets all calls at the end of a turn. */
  clear(): void {
    this.#open.clear();
    this.#shownDetails.clear();
  }

  #change(callId: CallId, change: Partial<OpenCall>): void {
    const call = this.#open.get(callId);
    if (call !== undefined) this.#open.set(callId, { ...call, ...change });
  }

  #callLine(callId: CallId, name: string, args: Json, width: number): void {
    const { paint } = this.#screen;
    const hasArgs = isJsonObject(args) && Object.keys(args).length > 0;
    const text = hasArgs ? ` ${oneLine(jsonText(args), width - textWidth(name) - 3)}` : '';
    this.#screen.line(
      `${paint('cyan', '●')} ${paint('bold', printable(name))}${paint('dim', text)}`,
    );
    this.#last = callId;
  }

  #lineBelow(callId: CallId, text: string, style: 'dim' | 'yellow', mark: string): void {
    const shown = oneLine(text, this.#screen.width - 4);
    this.#screen.line(`  ${this.#screen.paint(style, `${mark} ${shown}`)}`);
    if (this.#last !== callId) this.#last = undefined;
  }
}

const OUTCOMES: Readonly<Record<ToolOutcome, string>> = {
  ok: 'ok',
  error: 'failed',
  timeout: 'timed out',
  unknown: 'outcome unknown',
  denied: 'denied',
  cancelled: 'stopped',
  not_found: 'no such tool',
  invalid: 'invalid arguments',
};

/** Names a call while other calls run. */
function callText(name: string, args: Json | undefined): string {
  return args === undefined ? name : `${name} ${oneLine(jsonText(args), ARGS_WIDTH)}`;
}

/** A result in few words: the message of an error, the value of `{ result }`, or all of it. */
function responseText(response: Json): string {
  if (!isJsonObject(response)) return jsonText(response);
  const { error, result } = response;
  if (isJsonObject(error) && typeof error['message'] === 'string') return error['message'];
  const only = Object.keys(response).length === 1 && result !== undefined ? result : response;
  if (only === null) return 'done';
  return typeof only === 'string' ? only : jsonText(only);
}
