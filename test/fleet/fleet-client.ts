import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type Client, type ContentBlock } from '../../src/client/index.ts';
import type { SessionEvent } from '../../src/client/session-event.ts';
import type { Answer, Decision, LoggedEvent, Send, View } from './history.ts';

export interface FleetClientOptions {
  readonly client: Client;
  readonly session: string;
  /** Distinguishes the messages of this session. */
  readonly label: string;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** The longest pause of a sender after a turn, in milliseconds. */
  readonly thinkMs: number;
  /** The share of messages whose sender does not wait for the response. */
  readonly abandonedShare: number;
}

const SENDERS = ['a', 'b'];

/**
 * The people who use one session of a fleet, and what they did and saw: two senders, each with one turn at a time, two
 * approvers who answer the same call at the same time, and a reader of all events.
 */
export class FleetClient {
  readonly operations: (Send | Answer)[] = [];
  readonly #options: FleetClientOptions;
  readonly #events: { id: string; receivedAt: number }[] = [];
  readonly #done = new Set<string>();
  /** The messages in the log without an answer, in their order. */
  readonly #unanswered: string[] = [];
  readonly #accepted = new Set<string>();
  readonly #asked = new Set<string>();
  readonly #answering: Promise<void>[] = [];
  readonly #closing = new AbortController();
  #progress = Promise.withResolvers<void>();
  #stopping = false;
  #failure: unknown;
  readonly #reading: Promise<void>;
  readonly #sending: Promise<unknown>;

  constructor(options: FleetClientOptions) {
    this.#options = options;
    this.#reading = this.#read().catch((error: unknown) => {
      this.#failure = error;
      this.close();
    });
    this.#sending = Promise.all(SENDERS.map(async (sender) => this.#send(sender)));
    // It is awaited by `finish`, which may begin after a failure.
    this.#sending.catch(() => {});
  }

  get session(): string {
    return this.#options.session;
  }

  get view(): View {
    return { session: this.session, reader: 'reader', events: this.#events };
  }

  /** The accepted messages whose answer has not been read. */
  get waiting(): readonly string[] {
    return [...this.#accepted].filter((label) => !this.#done.has(label));
  }

  /** Sends no more messages, and resolves when the answer to each accepted one has been read. */
  async finish(): Promise<void> {
    this.#stopping = true;
    await this.#sending;
    await this.#until(() => this.waiting.length === 0);
    await Promise.all(this.#answering);
    this.close();
    await this.#reading;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Abandons everything. */
  close(): void {
    this.#stopping = true;
    this.#closing.abort();
    this.#progress.resolve();
  }

  async #send(sender: string): Promise<void> {
    const { client, label, random, thinkMs, abandonedShare } = this.#options;
    if (thinkMs > 0) await sleep(random() * thinkMs);
    for (let n = 0; !this.#stopping; n++) {
      const name = `${label}${sender}${n}`;
      const text = `${random() < 0.25 ? 'sign' : 'work'} ${name}`;
      const startedAt = performance.now();
      const isAbandoned = random() < abandonedShare;
      const closing = this.#closing.signal;
      const signal = isAbandoned
        ? AbortSignal.any([closing, AbortSignal.timeout(Math.floor(random() * 100))])
        : closing;
      const endedAt = await client.sessions.send(this.session, text, { signal }).then(
        () => performance.now(),
        (error: unknown) => {
          if (!signal.aborted) throw error;
          return undefined;
        },
      );
      this.operations.push({ kind: 'send', session: this.session, text, startedAt, endedAt });
      if (endedAt === undefined) continue;
      this.#accepted.add(name);
      await this.#until(() => this.#done.has(name));
      if (thinkMs > 0) await sleep(random() * thinkMs);
    }
  }

  async #read(): Promise<void> {
    const { client } = this.#options;
    const { signal } = this.#closing;
    for await (const event of client.sessions.events(this.session, {
      signal,
      reconnects: 100_000,
    })) {
      if (!('seq' in event)) continue;
      this.#events.push({ id: event.id, receivedAt: performance.now() });
      if (event.type === 'user.message') {
        const [, name = ''] = readText(event.content).split(' ');
        this.#unanswered.push(name);
      } else if (event.type === 'agent.message') {
        const answered = /^Done: (.*)\.$/.exec(readText(event.content))?.[1];
        if (answered !== undefined) this.#end(answered);
      } else if (
        event.type === 'session.status_idle' &&
        event.stop_reason.type === 'requires_action'
      ) {
        for (const callId of event.stop_reason.event_ids)
          if (!this.#asked.has(callId)) this.#answer(callId);
      } else if (isGivenUp(event)) this.#end(this.#unanswered[0] ?? '');
      else if (event.type === 'session.error')
        throw new Error(`${this.session}: ${JSON.stringify(event)}`);
      this.#progress.resolve();
      this.#progress = Promise.withResolvers();
    }
  }

  #end(name: string): void {
    this.#done.add(name);
    const position = this.#unanswered.indexOf(name);
    if (position !== -1) this.#unanswered.splice(position, 1);
  }

  /** Two people answer at the same time. */
  #answer(callId: string): void {
    this.#asked.add(callId);
    for (let approver = 0; approver < 2; approver++) {
      const answering = this.#decide(callId, this.#options.random() < 0.5 ? 'allow' : 'deny');
      answering.catch(() => {});
      this.#answering.push(answering);
    }
  }

  async #decide(callId: string, decision: Decision): Promise<void> {
    const { client, session } = this.#options;
    const startedAt = performance.now();
    const verb = decision === 'allow' ? client.sessions.approve : client.sessions.deny;
    const outcome = await verb(session, callId, { signal: this.#closing.signal }).then(
      () => 'accepted' as const,
      (error: unknown) => {
        if (error instanceof ApiError && error.errorCode === 'already_answered')
          return 'refused' as const;
        if (this.#closing.signal.aborted) return 'unknown' as const;
        throw error;
      },
    );
    const endedAt = outcome === 'unknown' ? undefined : performance.now();
    this.operations.push({
      kind: 'answer',
      session,
      callId,
      decision,
      outcome,
      startedAt,
      endedAt,
    });
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds() && !this.#closing.signal.aborted) await this.#progress.promise;
  }
}

function readText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** True if a message was given up, because the owners of its session died three times during one call of the model. */
function isGivenUp(event: SessionEvent): boolean {
  return event.type === 'session.error' && event.error.message.includes('the process died 3 times');
}

/** Reads the log of a session as it is now. */
export async function readFinalLog(
  client: Client,
  session: string,
): Promise<readonly LoggedEvent[]> {
  const log: LoggedEvent[] = [];
  for await (const event of client.sessions.listEvents(session, { limit: 1000 })) {
    const { id, type } = event;
    if (type === 'user.message') {
      log.push({ id, text: readText(event.content) });
    } else if (type === 'user.tool_confirmation')
      log.push({ id, answer: { callId: event.tool_use_id, decision: event.result } });
    else log.push({ id });
  }
  return log;
}
