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
  /** Shown at the top of a new session to a user at a terminal. */
  readonly hint: string;
  /** The command line that resumes this session; undefined if its store is in memory. */
  readonly resumeCommand: string | undefined;
}

/** How many unfinished sessions are listed by id. */
const MAX_LISTED = 3;

/** Shows a chat to a person: text streams in; each call has a line, and each result another. */
export class TextView implements ChatView {
  readonly #options: TextViewOptions;
  readonly #screen: Screen;
  readonly #paint: Paint;
  readonly #answer: AnswerStream;
  readonly #calls: CallView;
  /** Turns and calls whose input was typed here and is already on the screen. */
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
    const userLabel = user === DEFAULT_USER ? '' : ` · user ${user}`;
    const context = printable(` · session ${session}${userLabel} · ${store}`);
    const more =
      found === undefined ? this.#options.hint : describeFound(found, this.#options.now());
    this.#screen.line(`${this.#paint('bold', agent)}${this.#paint('dim', context)}`);
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
    if (row.activity === 'running') this.#dim('The turn continues when the session is resumed.');
    if (resumeCommand !== undefined)
      this.#dim(`The session is saved. Resume with: ${resumeCommand}`);
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
        return this.#dim('The conversation was rewound to an earlier turn.');
      case 'session.upgraded':
        return this.#dim('The agent has changed. The session continues with the new version.');
      case 'turn.rescheduled':
        return this.#screen.mark('yellow', '↻', `${event.error.message} Trying again soon.`);
      case 'session.paused':
      case 'session.resumed':
      case 'session.completed':
      case 'session.archived':
        return this.#dim(`The session is ${event.type.slice('session.'.length)}.`);
      case 'outcome.defined':
        return this.#dim(`Goal of the next turns: ${event.description}`);
      case 'outcome.evaluated':
        return this.#dim(`Round ${event.iteration}, ${event.result}: ${event.explanation}`);
      case 'outcome.ended':
        return this.#dim(`Outcome: ${event.result}.`);
      case 'turn.started':
      case 'turn.waiting':
      case 'turn.resumed':
        return this.#timed(event);
      case 'state.changed':
      case 'event.appended':
      case 'agent.started':
      case 'agent.ended':
      case 'node.started':
      case 'node.ended':
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
    const stopNotice = STOP_NOTICES[stopReason];
    if (stopNotice !== undefined) this.#screen.mark('yellow', '■', stopNotice);
    // The duration is not shown if it includes time a person took to answer.
    const duration = turn === undefined || turn.waited ? [] : [formatDuration(at - turn.startedAt)];
    const { inputTokens = 0, outputTokens = 0 } = usage ?? {};
    const tokens = inputTokens + outputTokens;
    const used = tokens === 0 ? [] : [`${inputTokens} tokens in, ${outputTokens} out`];
    const facts = [...duration, ...used].join(' · ');
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

/** Whether an event shows anything on the screen. */
function isVisible(event: LogEvent | PartialEvent): boolean {
  return !SILENT.has(event.type) && !(event.type === 'partial' && event.kind === 'progress');
}

const SILENT: ReadonlySet<string> = new Set([
  'agent.ended',
  'agent.started',
  'node.ended',
  'node.started',
  'partial.reset',
  'state.changed',
  'turn.resumed',
  'turn.waiting',
]);

/** The notice for a turn that did not end normally. */
const STOP_NOTICES: Readonly<Record<StopReason, string | undefined>> = {
  end_turn: undefined,
  requires_action: undefined,
  max_tokens: 'The response was cut at the token limit of the model.',
  interrupted: 'Stopped.',
  retries_exhausted: 'The model could not be reached. Send a message to try again.',
  budget_reached: 'The turn reached its step limit.',
  refusal: 'The model declined.',
  error: 'The turn failed.',
};

function describeFound({ activity, pending, lastSeq, updatedAt }: SessionRow, now: number): string {
  const facts = `(${lastSeq} events, the last ${formatAge(now - updatedAt)})`;
  const calls = pending.length === 1 ? '1 call waits' : `${pending.length} calls wait`;
  if (activity === 'running') return `Stopped in the middle of a turn ${facts}. It continues:`;
  if (activity === 'waiting') return `${calls} for your answer ${facts}.`;
  return `Resumed ${facts}. The last turn was:`;
}

function describeUnfinished(ids: readonly string[]): string {
  const listed = ids.slice(0, MAX_LISTED).join(', ');
  const more = ids.length > MAX_LISTED ? ` and ${ids.length - MAX_LISTED} more` : '';
  return `Unfinished sessions: ${listed}${more}. Resume one with --session ID.`;
}

function describeModelAttempt({ attempt, reason, error }: LogEventByType<'model.attempt'>): string {
  const prefix = `Retrying the model, attempt ${attempt}`;
  if (reason === 'crash') return `${prefix}: the process died during the call.`;
  return error === undefined ? `${prefix}.` : `${prefix}: ${error.message}`;
}
