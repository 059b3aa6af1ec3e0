import { omitUndefined } from '../../core/internal.ts';
import type { Client, SessionEvent, StreamedEvent, UserEvent } from '../../client/index.ts';
import type { Signal } from '../command/cli-context.ts';
import { parseApproval } from './parse-approval.ts';
import { EXIT_FAILURE, EXIT_OK, toExitCode, type ExitCode } from '../command/exit-code.ts';
import type { LineReader } from '../terminal/line-reader.ts';

export interface RemoteChatOptions {
  readonly client: Client;
  readonly sessionId: string;
  readonly reader: LineReader;
  readonly interactive: boolean;
  readonly show: (event: StreamedEvent) => void;
  readonly notice: (text: string) => void;
  readonly prompt: (text: string) => string;
}

type Idle = Extract<SessionEvent, { readonly type: 'session.status_idle' }>;
type Sent = Awaited<ReturnType<Client['sessions']['send']>>;

/**
 * A conversation with a session on a server: first the open calls, then a message and all it leads
 * to.
 */
export class RemoteChat {
  readonly #options: RemoteChatOptions;
  readonly #leaving = new AbortController();
  readonly #calls = new Map<string, SessionEvent>();
  readonly #sent = new Set<string>();
  #cursor: string | number = 0;
  #idle: Idle | undefined;
  #isOver = false;
  #turn: 'none' | 'running' | 'stopping' = 'none';
  #code: ExitCode = EXIT_OK;

  constructor(options: RemoteChatOptions) {
    this.#options = options;
  }

  /** True for an event that was sent from here. */
  isLocalEvent(event: SessionEvent): boolean {
    return this.#sent.has(event.id);
  }

  /** Runs until the input ends or the user leaves. */
  async run(): Promise<ExitCode> {
    await this.#catchUp();
    while (!this.#isOver && !this.#isLeaving && (await this.#round())) {
      // Each round is an answer or a message, and all it leads to.
    }
    return this.#code;
  }

  /** Handles Ctrl-C: stops the running turn; leaves if none runs or it is already stopping. */
  interrupt(signal?: Signal): void {
    if (this.#turn !== 'running') return this.leave(signal);
    this.#turn = 'stopping';
    this.#options.notice('Stopping. Ctrl-C again leaves.');
    this.#send([{ type: 'user.interrupt' }]).catch((error: unknown) =>
      this.#options.notice(String(error)),
    );
  }

  /** Ends the chat. The session stays as it is. */
  leave(signal?: Signal): void {
    if (signal !== undefined) this.#code = toExitCode(signal);
    this.#leaving.abort();
    this.#options.reader.close();
  }

  get #isLeaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Shows the past events, and follows a running turn. */
  async #catchUp(): Promise<void> {
    const { client, sessionId } = this.#options;
    const { last_seq: last, status } = await client.sessions.get(sessionId);
    if (last === 0 && status === 'idle') return;
    for await (const event of client.sessions.listEvents(sessionId, { limit: 1000 }))
      this.#receive(event);
    if (this.#idle === undefined && !this.#isOver) await this.#follow();
  }

  /** Sends one input and follows its turn. False if it was the last. */
  async #round(): Promise<boolean> {
    const events = await this.#read();
    if (events === undefined || this.#isLeaving) return false;
    await this.#send(events);
    await this.#follow();
    return true;
  }

  /** Reads what to send: the answer to the waiting call, or a message. */
  async #read(): Promise<readonly UserEvent[] | undefined> {
    const { reader, prompt, notice } = this.#options;
    const reason = this.#idle?.stop_reason;
    const waiting = reason?.type === 'requires_action' ? reason.event_ids[0] : undefined;
    for (;;) {
      const call = waiting === undefined ? undefined : this.#calls.get(waiting);
      const line = await reader.read(prompt(getPrompt(call)), { remember: call === undefined });
      if (line === undefined || line.trim() === '/exit') return undefined;
      if (call === undefined && line.trim() === '') continue;
      const userEvent = call === undefined ? toUserMessage(line) : parseAnswer(call, line);
      if (userEvent !== undefined) return [userEvent];
      notice('Answer y or n. After n you can add a reason.');
    }
  }

  async #send(events: readonly UserEvent[]): Promise<Sent> {
    const { client, sessionId } = this.#options;
    const sent = await client.sessions.send(sessionId, events);
    for (const { id } of sent) this.#sent.add(id);
    return sent;
  }

  /** Shows events until the session is idle again. */
  async #follow(): Promise<void> {
    const { client, sessionId } = this.#options;
    this.#turn = 'running';
    this.#idle = undefined;
    const { signal } = this.#leaving;
    const previews = ['agent.message'];
    const options = { after: this.#cursor, signal, previews };
    try {
      for await (const event of client.sessions.events(sessionId, options)) {
        this.#receive(event);
        if (this.#isIdle || this.#isOver) return;
      }
    } finally {
      this.#turn = 'none';
    }
  }

  get #isIdle(): boolean {
    return this.#idle !== undefined;
  }

  #receive(event: StreamedEvent): void {
    this.#options.show(event);
    if (!('seq' in event)) return;
    this.#cursor = event.id;
    this.#track(event);
  }

  #track(event: SessionEvent): void {
    switch (event.type) {
      case 'session.status_idle':
        this.#idle = event;
        if (event.stop_reason.type === 'retries_exhausted' && !this.#options.interactive)
          this.#code = EXIT_FAILURE;
        return;
      case 'session.status_running':
        this.#idle = undefined;
        return;
      case 'session.status_terminated':
      case 'session.deleted':
        this.#isOver = true;
        return;
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use':
        this.#calls.set(event.id, event);
        return;
      default:
        return;
    }
  }
}

function getPrompt(call: SessionEvent | undefined): string {
  if (call === undefined) return '› ';
  return call.type === 'agent.custom_tool_use' || !needsPermission(call)
    ? '  Its result (text) › '
    : '  Allow it? y/n › ';
}

function needsPermission(call: SessionEvent): boolean {
  return 'evaluated_permission' in call && call.evaluated_permission === 'ask';
}

function toUserMessage(text: string): UserEvent {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

/** Parses a line as the answer to a call; undefined if it is no answer. */
function parseAnswer(call: SessionEvent, line: string): UserEvent | undefined {
  const content = [{ type: 'text', text: line }] as const;
  if (call.type === 'agent.custom_tool_use')
    return { type: 'user.custom_tool_result', custom_tool_use_id: call.id, content };
  if (!needsPermission(call)) return { type: 'user.tool_result', tool_use_id: call.id, content };
  const decision = parseApproval(line);
  if (decision === undefined) return undefined;
  const id = { type: 'user.tool_confirmation', tool_use_id: call.id } as const;
  if (decision.approve) return { ...id, result: 'allow' };
  const { message } = decision;
  return { ...id, result: 'deny', ...omitUndefined({ deny_message: message }) };
}
