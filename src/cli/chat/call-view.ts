import { calledAgentWaits, isJsonObject } from '../../core/index.ts';
import type { CallId, Json, LogEventByType, ToolOutcome } from '../../core/index.ts';
import { formatDuration } from '../terminal/duration.ts';
import { jsonText, oneLine, printable } from '../terminal/printable.ts';
import type { Screen } from '../terminal/screen.ts';

const ARGS_WIDTH = 40;

interface OpenCall {
  readonly name: string;
  readonly args: Json;
  readonly startedAt: number;
  readonly runs: boolean;
  readonly progress?: string;
}

/** Shows the calls of a turn: a line when one begins, and a line for what came of it. */
export class CallView {
  readonly #screen: Screen;
  readonly #open = new Map<CallId, OpenCall>();
  readonly #shownDetails = new Map<CallId, string>();
  /** The call whose line is the last on the screen, so that what comes of it needs no name. */
  #last: CallId | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** What is running, in words; undefined when nothing is. */
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

  /** Something else is about to be shown, of this call or of none. */
  interruptedBy(callId: CallId | undefined): void {
    if (callId !== this.#last) this.#last = undefined;
  }

  started({ callId, name, args, needs, at }: LogEventByType<'tool.call'>): void {
    const runs = needs === 'nothing';
    this.#open.set(callId, { name, args, startedAt: at, runs });
    // One that waits is shown when someone is asked about it, or was.
    if (runs) this.#callLine(callId, name, args, this.#screen.width);
  }

  /** Whoever is asked about a call sees all of it: they answer for all of it. */
  showInFull(callId: CallId, name: string, args: Json): void {
    if (this.#last !== callId) this.#callLine(callId, name, args, Infinity);
  }

  progressed(callId: CallId | undefined, progress: string): void {
    if (callId !== undefined) this.#change(callId, { progress });
  }

  retried({ callId, name, attempt, reason, at }: LogEventByType<'tool.attempt'>): void {
    this.#change(callId, { startedAt: at, runs: true });
    const why = reason === 'crash' ? 'the process died while it ran' : 'it failed';
    this.#screen.mark('yellow', '↻', `${name} runs again, attempt ${attempt}: ${why}.`);
  }

  /** It ran, and now waits for its result from outside. */
  pending({ callId, name, request }: LogEventByType<'tool.pending'>): void {
    const call = this.#open.get(callId);
    this.#change(callId, { runs: false });
    const called = calledAgentWaits(request);
    if (called !== undefined) {
      for (const wait of called)
        this.showInFull(wait.callId, [...wait.path, wait.name].join(' › '), wait.args);
      return;
    }
    this.showInFull(callId, name, call?.args ?? {});
    if (request !== undefined) this.showDetails(callId, request);
  }

  /** What a call that waits asks, or what is known of it so far: said once. */
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
    const which = callId === this.#last ? [] : [callText(name, call?.args)];
    const how = outcome === 'ok' ? [] : [OUTCOMES[outcome]];
    const ms = durationMs ?? (call?.runs === true ? at - call.startedAt : undefined);
    const took = ms === undefined ? [] : [formatDuration(ms)];
    const text = [...which, ...how, ...took, responseText(response)].join(' · ');
    this.#lineBelow(callId, text, outcome === 'ok' ? 'dim' : 'yellow', '└');
    this.#open.delete(callId);
  }

  /** The turn is over, and all its calls with it. */
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
    const text = hasArgs ? ` ${oneLine(jsonText(args), width - name.length - 3)}` : '';
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
  invalid: 'refused',
};

/** Which call it is, when others run beside it. */
function callText(name: string, args: Json | undefined): string {
  return args === undefined ? name : `${name} ${oneLine(jsonText(args), ARGS_WIDTH)}`;
}

/** What a result says in few words: the message of an error, the one value of `{ result }`, or all of it. */
function responseText(response: Json): string {
  if (!isJsonObject(response)) return jsonText(response);
  const { error, result } = response;
  if (isJsonObject(error) && typeof error['message'] === 'string') return error['message'];
  const only = Object.keys(response).length === 1 && result !== undefined ? result : response;
  if (only === null) return 'done';
  return typeof only === 'string' ? only : jsonText(only);
}
