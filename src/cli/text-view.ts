import { textOf } from '../core/index.ts';
import type {
  CallId,
  FiringId,
  Json,
  LogEvent,
  LogEventOf,
  PartialEvent,
  StopReason,
  ToolOutcome,
} from '../core/index.ts';
import { isJsonObject } from '../core/index.ts';
import type { PendingCall } from '../runtime/index.ts';
import type { SessionRow } from '../store/index.ts';
import type { ChatFacts, ChatView, Farewell } from './chat-view.ts';
import { formatAge, formatDuration } from './duration.ts';
import type { Paint } from './paint.ts';
import { cut, jsonText, oneLine, printable } from './printable.ts';
import type { Screen } from './screen.ts';

export interface TextViewOptions {
  readonly screen: Screen;
  readonly now: () => number;
  /** Said at the top, for whoever can type it. */
  readonly hint: string;
  /** The command line that goes on with this session; undefined when its store keeps nothing. */
  readonly resumeCommand: string | undefined;
}

interface OpenCall {
  readonly name: string;
  readonly args: Json;
  readonly startedAt: number;
  readonly runs: boolean;
  readonly progress?: string;
}

/** A chat for people: what is said streams in, each call has a line, and its result another. */
export class TextView implements ChatView {
  readonly #options: TextViewOptions;
  readonly #screen: Screen;
  readonly #paint: Paint;
  /** Turns and calls whose input was typed here, and so is on the screen already. */
  readonly #typed = new Set<string>();
  readonly #open = new Map<CallId, OpenCall>();
  /** What the model's present answer has shown so far, and of which kind it was last. */
  #answer:
    | { readonly firingId: FiringId; readonly attempt: number; kind: string; text: string }
    | undefined;
  /** The call whose line is the last on the screen, so that what comes of it needs no name. */
  #lastCall: CallId | undefined;
  #turn: { readonly startedAt: number; readonly waited: boolean } | undefined;

  constructor(options: TextViewOptions) {
    this.#options = options;
    this.#screen = options.screen;
    this.#paint = options.screen.paint;
  }

  opened({ agent, session, store, user, found }: ChatFacts): void {
    const who = user === 'default' ? '' : ` · user ${user}`;
    const where = `session ${printable(session)}${printable(who)} · ${printable(store)}`;
    this.#screen.line(`${this.#paint('bold', agent)}${this.#paint('dim', ` · ${where}`)}`);
    if (found !== undefined)
      this.#screen.line(this.#paint('dim', foundText(found, this.#options.now())));
    else if (this.#options.hint !== '') this.#screen.line(this.#paint('dim', this.#options.hint));
    this.#screen.line();
  }

  typed(id: string): void {
    this.#typed.add(id);
  }

  show(event: LogEvent | PartialEvent): void {
    // A call is continued only by what follows its line directly.
    if (!this.#continuesCall(event)) this.#lastCall = undefined;
    this.#showOne(event);
    this.#screen.status(this.#doing());
  }

  prompt(continued: boolean): string {
    this.#settle();
    return this.#paint('cyan', continued ? '… ' : '› ');
  }

  ask({ callId, name, args, needs, reason }: PendingCall): string {
    this.#settle();
    if (this.#lastCall !== callId) this.#callLine(callId, name, args);
    this.#lastCall = callId;
    if (needs === 'result') return `  ${this.#paint('yellow', 'Its result (JSON or text) ›')} `;
    if (reason !== 'crash') return `  ${this.#paint('yellow', 'Allow it? y/n ›')} `;
    this.#screen.line(
      this.#paint('yellow', '  The process died while this ran: it may have happened already.'),
    );
    return `  ${this.#paint('yellow', 'Run it again? y/n ›')} `;
  }

  note(text: string): void {
    this.#screen.line(this.#paint('dim', printable(text)));
  }

  list(lines: readonly string[]): void {
    for (const line of lines)
      this.#screen.line(this.#paint('dim', cut(printable(line), this.#screen.width)));
    this.#screen.line();
  }

  problem(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#screen.line(`${this.#paint('red', '✖')} ${printable(message)}`);
  }

  left({ row }: Farewell): void {
    this.#settle();
    const { resumeCommand } = this.#options;
    if (row === undefined) return;
    for (const { name, needs } of row.pending) {
      const what = needs === 'approval' ? 'an approval' : 'its result';
      this.#screen.line(this.#paint('yellow', `${printable(name)} still waits for ${what}.`));
    }
    if (resumeCommand !== undefined) {
      this.#screen.line(
        this.#paint('dim', `The session is kept. Go on: ${printable(resumeCommand)}`),
      );
    }
  }

  #showOne(event: LogEvent | PartialEvent): void {
    switch (event.type) {
      case 'partial':
        return this.#piece(event);
      case 'partial.reset':
        return this.#startOver(event.firingId);
      case 'user.message':
        if (this.#typed.has(event.invocationId)) return;
        return this.#screen.line(`${this.#paint('cyan', '›')} ${printable(textOf(event.content))}`);
      case 'turn.started':
        this.#turn = { startedAt: event.at, waited: false };
        return;
      case 'agent.message':
        return this.#message(event);
      case 'tool.call':
        return this.#call(event);
      case 'tool.attempt':
        return this.#again(event);
      case 'tool.answered':
        return this.#answered(event);
      case 'tool.result':
        return this.#result(event);
      case 'turn.waiting':
        this.#turn = { startedAt: this.#turn?.startedAt ?? event.at, waited: true };
        return;
      case 'turn.resumed':
        this.#turn ??= { startedAt: event.at, waited: true };
        return;
      case 'turn.ended':
        return this.#ended(event);
      case 'model.attempt':
        return this.#aside('↻', modelAttemptText(event));
      case 'error':
        return this.#screen.line(`${this.#paint('red', '✖')} ${printable(event.message)}`);
      case 'session.rewound':
        return this.#aside('↶', 'The conversation was taken back to an earlier turn.');
      case 'session.upgraded':
        return this.#aside('↑', 'The agent has changed: the session goes on with the new one.');
      case 'state.changed':
        return;
    }
  }

  #piece({
    firingId,
    attempt,
    kind,
    text,
    callId,
  }: PartialEvent & { readonly type: 'partial' }): void {
    if (kind === 'progress') return this.#progress(callId, text);
    if (this.#answer?.firingId !== firingId || this.#answer.attempt !== attempt) {
      this.#screen.freshLine();
      this.#answer = { firingId, attempt, kind, text: '' };
    }
    if (this.#answer.kind !== kind) this.#screen.freshLine();
    this.#answer.kind = kind;
    if (kind === 'text') {
      this.#answer.text += text;
      this.#screen.prose(printable(text));
    } else this.#screen.prose(printable(text), (words) => this.#paint('dim', words));
  }

  #progress(callId: CallId | undefined, progress: string): void {
    const call = callId === undefined ? undefined : this.#open.get(callId);
    if (callId !== undefined && call !== undefined) this.#open.set(callId, { ...call, progress });
  }

  #startOver(firingId: FiringId): void {
    if (this.#answer?.firingId !== firingId) return;
    this.#answer = undefined;
    this.#screen.freshLine();
  }

  /** The whole answer, as far as it has not streamed in already. */
  #message({ content }: LogEventOf<'agent.message'>): void {
    const text = textOf(content);
    const shown = this.#answer?.text ?? '';
    this.#answer = undefined;
    const streams = text.startsWith(shown);
    if (!streams) this.#screen.freshLine();
    this.#screen.prose(printable(streams ? text.slice(shown.length) : text));
    this.#screen.freshLine();
  }

  #call({ callId, name, args, needs, at }: LogEventOf<'tool.call'>): void {
    const runs = needs === 'nothing';
    this.#open.set(callId, { name, args, startedAt: at, runs });
    // One that waits is shown when someone is asked about it, or was.
    if (runs) this.#callLine(callId, name, args, true);
  }

  /** What someone is asked about is shown whole: they answer for all of it. */
  #callLine(callId: CallId, name: string, args: Json, cut = false): void {
    const shown = isJsonObject(args) && Object.keys(args).length === 0 ? '' : jsonText(args);
    const text = cut ? oneLine(shown, this.#screen.width - name.length - 3) : shown;
    this.#screen.line(
      `${this.#paint('cyan', '●')} ${this.#paint('bold', printable(name))} ${this.#paint('dim', text)}`.trimEnd(),
    );
    this.#lastCall = callId;
  }

  #again({ callId, name, attempt, reason, at }: LogEventOf<'tool.attempt'>): void {
    const call = this.#open.get(callId);
    this.#open.set(callId, { name, args: call?.args ?? {}, startedAt: at, runs: true });
    const why = reason === 'crash' ? 'the process died while it ran' : 'it failed';
    this.#aside('↻', `${name} runs again, attempt ${attempt}: ${why}.`);
  }

  #answered({ callId, decision, message, at }: LogEventOf<'tool.answered'>): void {
    const call = this.#open.get(callId);
    if (call !== undefined)
      this.#open.set(callId, { ...call, startedAt: at, runs: decision === 'approved' });
    if (this.#typed.has(callId)) return;
    if (call !== undefined && callId !== this.#lastCall)
      this.#callLine(callId, call.name, call.args, true);
    const why = message === undefined ? '' : `: ${message}`;
    this.#screen.line(this.#paint('dim', `  │ ${printable(decision + why)}`));
  }

  #result({ callId, name, outcome, response, durationMs, at }: LogEventOf<'tool.result'>): void {
    const call = this.#open.get(callId);
    const which = callId === this.#lastCall ? [] : [callText(name, call?.args)];
    this.#open.delete(callId);
    const ms = durationMs ?? (call?.runs === true ? at - call.startedAt : undefined);
    const took = ms === undefined ? [] : [formatDuration(ms)];
    const how = outcome === 'ok' ? [] : [OUTCOMES[outcome]];
    const text = [...which, ...how, ...took, responseText(response)].join(' · ');
    const line = `└ ${oneLine(text, this.#screen.width - 4)}`;
    this.#screen.line(`  ${this.#paint(outcome === 'ok' ? 'dim' : 'yellow', line)}`);
  }

  #ended({ stopReason, usage, at }: LogEventOf<'turn.ended'>): void {
    this.#open.clear();
    const why = STOPS[stopReason];
    if (why !== undefined) this.#screen.line(this.#paint('yellow', `■ ${why}`));
    // Time that a person took to answer says nothing.
    const took =
      this.#turn === undefined || this.#turn.waited
        ? []
        : [formatDuration(at - this.#turn.startedAt)];
    const tokens =
      usage === undefined || usage.totalTokens === 0
        ? []
        : [`${usage.inputTokens} tokens in, ${usage.outputTokens} out`];
    const facts = [...took, ...tokens].join(' · ');
    if (facts !== '') this.#screen.line(this.#paint('dim', facts));
    this.#turn = undefined;
    this.#screen.line();
  }

  #aside(mark: string, text: string): void {
    this.#screen.line(this.#paint('yellow', `${mark} ${printable(text)}`));
  }

  #continuesCall(event: LogEvent | PartialEvent): boolean {
    if ('callId' in event && event.callId === this.#lastCall) return true;
    return ['turn.waiting', 'turn.resumed', 'state.changed'].includes(event.type);
  }

  #doing(): string | undefined {
    if (this.#turn === undefined) return undefined;
    const running = [...this.#open.values()].filter(({ runs }) => runs);
    const names = running.map(({ name, progress }) =>
      progress === undefined ? name : `${name} (${progress})`,
    );
    if (names.length > 0) return `running ${names.join(', ')}`;
    return this.#open.size > 0 ? undefined : 'thinking';
  }

  #settle(): void {
    this.#screen.status();
    this.#screen.freshLine();
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

/** What a person should know of a turn that did not just end. */
const STOPS: Readonly<Record<StopReason, string | undefined>> = {
  end_turn: undefined,
  requires_action: undefined,
  max_tokens: 'The answer was cut: it reached the most tokens the model may write.',
  interrupted: 'Stopped.',
  retries_exhausted: 'The model could not be reached. Say something to try again.',
  budget_reached: 'The turn used all the steps it may take.',
  refusal: 'The model declined.',
  error: 'The turn failed.',
};

function foundText({ status, pending, lastSeq, updatedAt }: SessionRow, now: number): string {
  const when = `${lastSeq} events, the last ${formatAge(now - updatedAt)}`;
  if (status === 'running') return `Left in the middle of a turn (${when}). It goes on:`;
  if (status === 'waiting')
    return `Left with ${pending.length === 1 ? 'a call that waits' : `${pending.length} calls that wait`} for you (${when}).`;
  return `Going on (${when}). The last turn was:`;
}

function modelAttemptText({ attempt, reason, error }: LogEventOf<'model.attempt'>): string {
  if (reason === 'crash')
    return `Asking the model again, attempt ${attempt}: the process died meanwhile.`;
  return `Asking the model again, attempt ${attempt}${error === undefined ? '' : `: ${error.message}`}`;
}

/** Which call it is, when others run beside it. */
function callText(name: string, args: Json | undefined): string {
  return args === undefined ? name : `${name} ${oneLine(jsonText(args), 40)}`;
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
