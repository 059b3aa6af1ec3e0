import { contentText } from '../../core/index.ts';
import type { LogEvent, LogEventByType, PartialEvent, StopReason } from '../../core/index.ts';
import type { PendingCall } from '../../runtime/index.ts';
import type { SessionRow } from '../../store/index.ts';
import { AnswerStream } from './answer-stream.ts';
import { CallView } from './call-view.ts';
import type { ChatFacts, ChatView, ChatExit } from './chat-view.ts';
import { formatAge, formatDuration } from '../terminal/duration.ts';
import type { Paint } from '../terminal/paint.ts';
import { truncate, printable } from '../terminal/printable.ts';
import type { Screen } from '../terminal/screen.ts';
import { DEFAULT_USER } from '../command/shared-options.ts';

export interface TextViewOptions {
  readonly screen: Screen;
  readonly now: () => number;
  /** Said at the top of a new session, for whoever can type it. */
  readonly hint: string;
  /** The command line that goes on with this session; undefined when its store keeps nothing. */
  readonly resumeCommand: string | undefined;
}

/** More sessions than this are counted, not named. */
const MANY = 3;

/** A chat for people: what is said streams in, each call has a line, and its result another. */
export class TextView implements ChatView {
  readonly #options: TextViewOptions;
  readonly #screen: Screen;
  readonly #paint: Paint;
  readonly #answer: AnswerStream;
  readonly #calls: CallView;
  /** Turns and calls whose input was typed here, and so is on the screen already. */
  readonly #typed = new Set<string>();
  #turn: { readonly startedAt: number; readonly waited: boolean } | undefined;

  constructor(options: TextViewOptions) {
    this.#options = options;
    this.#screen = options.screen;
    this.#paint = options.screen.paint;
    this.#answer = new AnswerStream(options.screen);
    this.#calls = new CallView(options.screen);
  }

  opened({ agent, session, store, user, found, unfinished }: ChatFacts): void {
    const who = user === DEFAULT_USER ? '' : ` · user ${user}`;
    const where = printable(` · session ${session}${who} · ${store}`);
    const more =
      found === undefined ? this.#options.hint : describeFound(found, this.#options.now());
    this.#screen.line(`${this.#paint('bold', agent)}${this.#paint('dim', where)}`);
    if (more !== '') this.#dim(more);
    if (unfinished.length > 0) this.#dim(describeUnfinished(unfinished));
    this.#screen.line();
  }

  typed(id: string): void {
    this.#typed.add(id);
  }

  show(event: LogEvent | PartialEvent): void {
    if (isVisible(event)) this.#calls.interruptedBy('callId' in event ? event.callId : undefined);
    if (event.type === 'partial' || event.type === 'partial.reset') this.#partial(event);
    else this.#event(event);
    this.#screen.status(this.#statusText());
  }

  prompt(continued: boolean): string {
    this.#clearStatus();
    return this.#paint('cyan', continued ? '… ' : '› ');
  }

  promptForCall({ callId, name, args, needs, reason, request }: PendingCall): string {
    this.#clearStatus();
    this.#calls.showInFull(callId, name, args);
    if (request !== undefined) this.#calls.showDetails(callId, request);
    const question = (text: string): string => `  ${this.#paint('yellow', `${text} ›`)} `;
    if (needs === 'result') return question('Its result (JSON or text)');
    if (reason !== 'crash') return question('Allow it? y/n');
    const warning = '  The process died while this ran: it may have happened already.';
    this.#screen.line(this.#paint('yellow', warning));
    return question('Run it again? y/n');
  }

  notice(text: string): void {
    this.#dim(text);
  }

  list(lines: readonly string[]): void {
    for (const line of lines) this.#dim(truncate(line, this.#screen.width));
    this.#screen.line();
  }

  problem(error: unknown): void {
    this.#screen.mark('red', '✖', error instanceof Error ? error.message : String(error));
  }

  ended({ row }: ChatExit): void {
    this.#clearStatus();
    const { resumeCommand } = this.#options;
    if (row === undefined) return;
    for (const { name, needs } of row.pending) {
      const what = needs === 'approval' ? 'an approval' : 'its result';
      this.#screen.line(this.#paint('yellow', printable(`${name} still waits for ${what}.`)));
    }
    if (row.status === 'running') this.#dim('The turn goes on when the session does.');
    if (resumeCommand !== undefined) this.#dim(`The session is kept. Go on: ${resumeCommand}`);
  }

  #partial(event: PartialEvent): void {
    if (event.type === 'partial.reset') this.#answer.restart(event.firingId);
    else if (event.kind === 'progress') this.#calls.progressed(event.callId, event.text);
    else this.#answer.append(event);
  }

  #event(event: LogEvent): void {
    switch (event.type) {
      case 'user.message':
        return this.#message(event);
      case 'agent.message':
        return this.#answer.finish(event.content);
      case 'tool.call':
        return this.#calls.started(event);
      case 'tool.attempt':
        return this.#calls.retried(event);
      case 'tool.pending':
        return this.#calls.pending(event);
      case 'tool.answered':
        return this.#calls.answered(event, this.#typed.has(event.callId));
      case 'tool.result':
        return this.#calls.ended(event);
      case 'turn.ended':
        return this.#ended(event);
      case 'model.attempt':
        return this.#screen.mark('yellow', '↻', describeModelAttempt(event));
      case 'error':
        return this.#screen.mark('red', '✖', event.message);
      case 'session.rewound':
        return this.#dim('The conversation was taken back to an earlier turn.');
      case 'session.upgraded':
        return this.#dim('The agent has changed: the session goes on with the new one.');
      case 'turn.rescheduled':
        return this.#screen.mark('yellow', '↻', `${event.error.message} Trying again soon.`);
      case 'session.paused':
      case 'session.resumed':
      case 'session.completed':
      case 'session.archived':
        return this.#dim(`The session is ${event.type.slice('session.'.length)}.`);
      case 'outcome.defined':
        return this.#dim(`Turns are judged by: ${event.description}`);
      case 'outcome.evaluated':
        return this.#dim(`Round ${event.iteration}, ${event.result}: ${event.explanation}`);
      case 'outcome.ended':
        return this.#dim(`The outcome: ${event.result}.`);
      case 'turn.started':
      case 'turn.waiting':
      case 'turn.resumed':
        return this.#timed(event);
      case 'state.changed':
      case 'event.appended':
        return undefined;
      default:
        return event satisfies never;
    }
  }

  #message({ invocationId, content }: LogEventByType<'user.message'>): void {
    if (!this.#typed.has(invocationId)) this.#screen.mark('cyan', '›', contentText(content));
  }

  #timed({ type, at }: LogEventByType<'turn.started' | 'turn.waiting' | 'turn.resumed'>): void {
    const begins = type === 'turn.started' || this.#turn === undefined;
    this.#turn = {
      startedAt: begins ? at : (this.#turn?.startedAt ?? at),
      waited: type !== 'turn.started',
    };
  }

  #ended({ stopReason, usage, at }: LogEventByType<'turn.ended'>): void {
    const turn = this.#turn;
    this.#turn = undefined;
    this.#calls.clear();
    const why = STOP_NOTICES[stopReason];
    if (why !== undefined) this.#screen.mark('yellow', '■', why);
    // Time that a person took to answer says nothing.
    const took = turn === undefined || turn.waited ? [] : [formatDuration(at - turn.startedAt)];
    const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
    const tokens = inputTokens + outputTokens;
    const used = tokens === 0 ? [] : [`${inputTokens} tokens in, ${outputTokens} out`];
    const facts = [...took, ...used].join(' · ');
    if (facts !== '') this.#dim(facts);
    this.#screen.line();
  }

  #statusText(): string | undefined {
    if (this.#turn === undefined) return undefined;
    return this.#calls.running ?? (this.#calls.anyOpen ? undefined : 'thinking');
  }

  #dim(text: string): void {
    this.#screen.line(this.#paint('dim', printable(text)));
  }

  #clearStatus(): void {
    this.#screen.status();
    this.#screen.endLine();
  }
}

/** What is not seen comes between nothing. */
function isVisible(event: LogEvent | PartialEvent): boolean {
  return !SILENT.has(event.type) && !(event.type === 'partial' && event.kind === 'progress');
}

const SILENT: ReadonlySet<string> = new Set([
  'partial.reset',
  'state.changed',
  'turn.resumed',
  'turn.waiting',
]);

/** What a person should know of a turn that did not just end. */
const STOP_NOTICES: Readonly<Record<StopReason, string | undefined>> = {
  end_turn: undefined,
  requires_action: undefined,
  max_tokens: 'The answer was cut: it reached the most tokens the model may write.',
  interrupted: 'Stopped.',
  retries_exhausted: 'The model could not be reached. Say something to try again.',
  budget_reached: 'The turn used all the steps it may take.',
  refusal: 'The model declined.',
  error: 'The turn failed.',
};

function describeFound({ status, pending, lastSeq, updatedAt }: SessionRow, now: number): string {
  const facts = `(${lastSeq} events, the last ${formatAge(now - updatedAt)})`;
  const calls = pending.length === 1 ? 'a call that waits' : `${pending.length} calls that wait`;
  if (status === 'running') return `Left in the middle of a turn ${facts}. It goes on:`;
  if (status === 'waiting') return `Left with ${calls} for you ${facts}.`;
  return `Going on ${facts}. The last turn was:`;
}

function describeUnfinished(ids: readonly string[]): string {
  const named = ids.slice(0, MANY).join(', ');
  const more = ids.length > MANY ? ` and ${ids.length - MANY} more` : '';
  return `Left unfinished: ${named}${more}. Go on with one by --session ID.`;
}

function describeModelAttempt({ attempt, reason, error }: LogEventByType<'model.attempt'>): string {
  const prefix = `Asking the model again, attempt ${attempt}`;
  if (reason === 'crash') return `${prefix}: the process died meanwhile.`;
  return error === undefined ? `${prefix}.` : `${prefix}: ${error.message}`;
}
