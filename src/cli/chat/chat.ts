import type { Json, LogEvent, PartialEvent, Seq } from '../../core/index.ts';
import type { PendingCall, Session } from '../../runtime/index.ts';
import type { ChatView, ChatExit } from './chat-view.ts';
import type { Signal } from '../command/cli-context.ts';
import { parseApproval } from './parse-approval.ts';
import { EXIT_FAILURE, EXIT_OK, toExitCode, type ExitCode } from '../command/exit-code.ts';
import type { LineReader } from '../terminal/line-reader.ts';
import { formatLogEvent } from './log-line.ts';
import { untilAborted } from './until-aborted.ts';

export interface ChatOptions {
  readonly view: ChatView;
  readonly reader: LineReader;
  /**
   * A person types: lines that begin with `/` are commands, and a failed turn does not set the exit
   * code.
   */
  readonly interactive: boolean;
  /** Opens the session, at the latest for the first message. `resumed`: it exists already. */
  readonly open: () => Promise<Session>;
  readonly resumed: boolean;
}

/** How many events to search for the last turn of a resumed session. */
const RECENT_EVENTS = 200;
const LOG_LINES = 20;
const HELP = [
  '/log [N]   show the last N events of this session (default: 20)',
  '/exit      leave; the session is saved',
  'Ctrl-C     stop the turn; again, or at the prompt: leave',
  'A \\ at the end of a line continues it on the next; // at its beginning sends a single /.',
];

/**
 * A conversation over lines: first the open calls, then a message, the calls it leads to, and the
 * next message.
 */
export class Chat {
  readonly #options: ChatOptions;
  readonly #view: ChatView;
  readonly #leaving = new AbortController();
  #session: Session | undefined;
  #shownSeq: Seq = 0;
  #turn: 'none' | 'running' | 'stopping' = 'none';
  #exitReason: ChatExit['reason'] = 'end_of_input';
  #code: ExitCode = EXIT_OK;

  constructor(options: ChatOptions) {
    this.#options = options;
    this.#view = options.view;
  }

  /** Runs until the input ends or the user leaves. */
  async run(): Promise<ExitCode> {
    if (this.#options.resumed) {
      await this.#open();
      await this.#showLastTurn();
    }
    while (await this.#round()) {
      // Each round is a message and all it leads to.
    }
    const row = await this.#session?.status();
    this.#view.ended({ reason: this.#exitReason, row });
    return this.#code;
  }

  /**
   * Handles Ctrl-C, as a key or as a signal: stops the running turn; leaves if none runs or it is
   * already stopping.
   */
  interrupt(by: 'key' | Signal = 'key'): void {
    if (this.#turn === 'running' && this.#session !== undefined) {
      this.#turn = 'stopping';
      this.#view.notice('Stopping. Ctrl-C again leaves.');
      this.#session.interrupt().catch((error: unknown) => this.#view.problem(error));
    } else if (this.#turn === 'stopping') this.leave(by === 'key' ? 'SIGINT' : by);
    else this.leave(by === 'key' ? undefined : by);
  }

  /** Ends the chat. The session stays as it is. */
  leave(signal?: Signal): void {
    this.#exitReason = signal === undefined ? 'exit' : 'signal';
    if (signal !== undefined) this.#code = toExitCode(signal);
    this.#leaving.abort();
    this.#options.reader.close();
  }

  get #isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** One message with all it leads to. False if it was the last. */
  async #round(): Promise<boolean> {
    if (!(await this.#answerCalls())) return false;
    const message = await this.#readMessage();
    if (message === undefined || this.#isLeaving) return false;
    const session = await this.#open();
    const turn = session.send(message);
    this.#view.typed(turn.invocationId);
    await this.#follow(turn);
    return !this.#isLeaving;
  }

  async #open(): Promise<Session> {
    this.#session ??= await this.#options.open();
    return this.#session;
  }

  /** Asks about every waiting call. False if the chat ends first. */
  async #answerCalls(): Promise<boolean> {
    while (!this.#isLeaving) {
      const [call] = (await this.#session?.pending()) ?? [];
      if (call === undefined) return true;
      if (!(await this.#answerCall(call))) return false;
    }
    return false;
  }

  async #answerCall(call: PendingCall): Promise<boolean> {
    const session = await this.#open();
    const line = await this.#options.reader.read(this.#view.promptForCall(call), {
      remember: false,
    });
    if (line === undefined || this.#isLeaving) return false;
    if (this.#options.interactive && /^\/(?:exit|quit)\s*$/.test(line)) {
      this.leave();
      return false;
    }
    const turn = submitAnswer(session, call, line);
    if (turn === undefined) {
      this.#view.notice('Answer y or n. After n you can add a reason.');
      return true;
    }
    this.#view.typed(call.callId);
    try {
      await turn.accepted;
    } catch (error) {
      // Someone else answered, or the call no longer waits. The log has the outcome.
      this.#view.problem(error);
      await this.#catchUp();
      return true;
    }
    await this.#follow(turn);
    return true;
  }

  async #readMessage(): Promise<string | undefined> {
    for (;;) {
      const line = await this.#readLine();
      if (line === undefined) return undefined;
      if (line.trim() === '') continue;
      if (!this.#options.interactive || !line.startsWith('/')) return line;
      if (line.startsWith('//')) return line.slice(1);
      await this.#command(line.trim());
      if (this.#isLeaving) return undefined;
    }
  }

  /** Reads a line with its continuation lines. */
  async #readLine(before = ''): Promise<string | undefined> {
    const { reader, interactive } = this.#options;
    const line = await reader.read(this.#view.prompt(before !== ''));
    if (line === undefined) return undefined;
    if (!interactive || !line.endsWith('\\')) return before + line;
    return this.#readLine(`${before}${line.slice(0, -1)}\n`);
  }

  async #command(line: string): Promise<void> {
    const [name, argument] = line.split(/\s+/);
    if (name === '/exit' || name === '/quit') this.leave();
    else if (name === '/help') this.#view.list(HELP);
    else if (name === '/log') await this.#showLog(Number(argument ?? LOG_LINES));
    else this.#view.notice(`There is no command ${name}. /help lists the commands.`);
  }

  async #showLog(count: number): Promise<void> {
    if (this.#session === undefined) return this.#view.notice('This session has no events yet.');
    if (!Number.isSafeInteger(count) || count < 1)
      return this.#view.notice('N must be a whole number above 0, for example: /log 50');
    const { lastSeq } = await this.#session.status();
    const lines: string[] = [];
    for await (const event of this.#session.events(Math.max(0, lastSeq - count), {
      follow: false,
    })) {
      if ('seq' in event) lines.push(formatLogEvent(event));
    }
    this.#view.list(lines);
  }

  async #follow(events: AsyncIterable<LogEvent | PartialEvent>): Promise<void> {
    this.#turn = 'running';
    try {
      for await (const event of untilAborted(events, this.#leaving.signal)) this.#show(event);
    } finally {
      this.#turn = 'none';
    }
  }

  #show(event: LogEvent | PartialEvent): void {
    this.#view.show(event);
    if ('seq' in event) this.#shownSeq = event.seq;
    if (event.type !== 'turn.ended' || this.#options.interactive) return;
    if (event.stopReason === 'error' || event.stopReason === 'retries_exhausted')
      this.#code = EXIT_FAILURE;
  }

  /** Shows the last turn of a resumed session, and what it still does. */
  async #showLastTurn(): Promise<void> {
    const session = await this.#open();
    const { lastSeq } = await session.status();
    const recent: LogEvent[] = [];
    for await (const event of session.events(Math.max(0, lastSeq - RECENT_EVENTS), {
      follow: false,
    })) {
      if ('seq' in event) recent.push(event);
    }
    const begin = recent.findLastIndex(({ type }) => type === 'user.message');
    for (const event of recent.slice(Math.max(0, begin))) this.#show(event);
    await this.#catchUp();
  }

  /** Shows further events until the session is idle or waits. */
  async #catchUp(): Promise<void> {
    const session = await this.#open();
    if (await this.#isIdle(session)) return;
    const more = session.events(this.#shownSeq, { signal: this.#leaving.signal });
    await this.#follow(this.#untilIdle(session, more));
  }

  async *#untilIdle(
    session: Session,
    events: AsyncIterable<LogEvent | PartialEvent>,
  ): AsyncGenerator<LogEvent | PartialEvent, void, undefined> {
    for await (const event of events) {
      yield event;
      if ('seq' in event && (await this.#isIdle(session))) return;
    }
  }

  async #isIdle(session: Session): Promise<boolean> {
    const { status, activity, lastSeq, inboxPending } = await session.status();
    const isRunning = activity === 'running' && status !== 'quarantined';
    return !isRunning && !inboxPending && lastSeq <= this.#shownSeq;
  }
}

/** Submits a line as the answer to a call; undefined if it is no answer. */
function submitAnswer(
  session: Session,
  call: PendingCall,
  line: string,
): ReturnType<Session['approve']> | undefined {
  const { callId, fingerprint, needs } = call;
  if (needs === 'result') return session.answer(callId, parseJsonOrText(line));
  const decision = parseApproval(line);
  if (decision === undefined) return undefined;
  if (decision.approve) return session.approve(callId, { fingerprint });
  const { message } = decision;
  return session.deny(callId, message === undefined ? {} : { message });
}

function parseJsonOrText(line: string): Json {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns JSON
    return JSON.parse(line) as Json;
  } catch {
    return line;
  }
}
