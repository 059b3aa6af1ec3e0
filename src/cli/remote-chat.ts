import type { Client, SessionEvent, StreamedEvent, UserEvent } from '../client/index.ts';
import type { Signal } from './cli-context.ts';
import { parseDecision } from './decision.ts';
import { EXIT_FAILURE, EXIT_OK, exitCodeOf, type ExitCode } from './exit-code.ts';
import type { LineReader } from './line-reader.ts';

export interface RemoteChatOptions {
  readonly client: Client;
  readonly sessionId: string;
  readonly reader: LineReader;
  readonly interactive: boolean;
  readonly show: (event: StreamedEvent) => void;
  readonly note: (text: string) => void;
  readonly prompt: (text: string) => string;
}

type Idle = Extract<SessionEvent, { readonly type: 'session.status_idle' }>;
type Sent = Awaited<ReturnType<Client['sessions']['send']>>;

/** A conversation with a session on a server: what was left open first, then a message, and all it leads to. */
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

  /** True for what was typed here. */
  isSentHere(event: SessionEvent): boolean {
    return this.#sent.has(event.id);
  }

  /** Until there is nothing more to read, or someone leaves. */
  async run(): Promise<ExitCode> {
    await this.#catchUp();
    while (!this.#isOver && !this.#left && (await this.#round())) {
      // Each round is an answer or a message, and all it leads to.
    }
    return this.#code;
  }

  /** Ctrl-C: stops the turn that runs; leaves when there is none, or it is asked to stop already. */
  interrupt(signal?: Signal): void {
    if (this.#turn !== 'running') return this.leave(signal);
    this.#turn = 'stopping';
    this.#options.note('Stopping. Ctrl-C again leaves.');
    this.#send([{ type: 'user.interrupt' }]).catch((error: unknown) =>
      this.#options.note(String(error)),
    );
  }

  /** Ends the chat where it is; the session stays as it is. */
  leave(signal?: Signal): void {
    if (signal !== undefined) this.#code = exitCodeOf(signal);
    this.#leaving.abort();
    this.#options.reader.close();
  }

  get #left(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** What there is, and what still happens of it. */
  async #catchUp(): Promise<void> {
    const { client, sessionId } = this.#options;
    const { last_seq: last, status } = await client.sessions.get(sessionId);
    if (last === 0 && status === 'idle') return;
    for await (const event of client.sessions.listEvents(sessionId, { limit: 1000 }))
      this.#take(event);
    if (this.#idle === undefined && !this.#isOver) await this.#follow();
  }

  /** False when it was the last. */
  async #round(): Promise<boolean> {
    const events = await this.#read();
    if (events === undefined || this.#left) return false;
    await this.#send(events);
    await this.#follow();
    return true;
  }

  /** What is sent next: an answer to the call that waits, or a message. */
  async #read(): Promise<readonly UserEvent[] | undefined> {
    const { reader, prompt, note } = this.#options;
    const reason = this.#idle?.stop_reason;
    const waiting = reason?.type === 'requires_action' ? reason.event_ids[0] : undefined;
    for (;;) {
      const call = waiting === undefined ? undefined : this.#calls.get(waiting);
      const line = await reader.read(prompt(questionOf(call)), { remember: call === undefined });
      if (line === undefined || line.trim() === '/exit') return undefined;
      if (call === undefined && line.trim() === '') continue;
      const said = call === undefined ? messageOf(line) : answerOf(call, line);
      if (said !== undefined) return [said];
      note('Answer y or n; after n you may say why.');
    }
  }

  async #send(events: readonly UserEvent[]): Promise<Sent> {
    const { client, sessionId } = this.#options;
    const sent = await client.sessions.send(sessionId, events);
    for (const { id } of sent) this.#sent.add(id);
    return sent;
  }

  /** Shows what happens, until the session is idle again. */
  async #follow(): Promise<void> {
    const { client, sessionId } = this.#options;
    this.#turn = 'running';
    this.#idle = undefined;
    const { signal } = this.#leaving;
    const previews = ['agent.message'];
    const options = { after: this.#cursor, signal, previews };
    try {
      for await (const event of client.sessions.events(sessionId, options)) {
        this.#take(event);
        if (this.#isIdle || this.#isOver) return;
      }
    } finally {
      this.#turn = 'none';
    }
  }

  get #isIdle(): boolean {
    return this.#idle !== undefined;
  }

  #take(event: StreamedEvent): void {
    this.#options.show(event);
    if (!('seq' in event)) return;
    this.#cursor = event.id;
    this.#note(event);
  }

  #note(event: SessionEvent): void {
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

function questionOf(call: SessionEvent | undefined): string {
  if (call === undefined) return '› ';
  return call.type === 'agent.custom_tool_use' || !asksPermission(call)
    ? '  Its result (text) › '
    : '  Allow it? y/n › ';
}

function asksPermission(call: SessionEvent): boolean {
  return 'evaluated_permission' in call && call.evaluated_permission === 'ask';
}

function messageOf(text: string): UserEvent {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}

/** The answer that a line gives to a call; undefined when it gives none. */
function answerOf(call: SessionEvent, line: string): UserEvent | undefined {
  const content = [{ type: 'text', text: line }] as const;
  if (call.type === 'agent.custom_tool_use')
    return { type: 'user.custom_tool_result', custom_tool_use_id: call.id, content };
  if (!asksPermission(call)) return { type: 'user.tool_result', tool_use_id: call.id, content };
  const decision = parseDecision(line);
  if (decision === undefined) return undefined;
  const id = { type: 'user.tool_confirmation', tool_use_id: call.id } as const;
  if (decision.approve) return { ...id, result: 'allow' };
  const { message } = decision;
  return { ...id, result: 'deny', ...(message !== undefined && { deny_message: message }) };
}
