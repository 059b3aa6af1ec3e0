import type { SqlValue, SqlStatement, Transaction } from './statement.ts';

/** The longest message of several statements, in characters. The limit of a server is 16 MB or more. */
const MAX_MESSAGE_LENGTH = 1_000_000;

/** The most queued statements before a loop sends them. */
const MAX_PENDING = 64;

interface QueuedStatement {
  readonly text: string;
  /** The text with its values. */
  readonly sql: string;
}

/**
 * Sends statements over one connection, several in one message. A server runs them in order and stops at the first that
 * fails.
 */
export class StatementBatch implements Transaction {
  readonly #send: (sql: string) => Promise<unknown>;
  readonly #format: (text: string, values: readonly SqlValue[]) => string;
  readonly #onStatement: ((text: string) => void) | undefined;
  #queued: QueuedStatement[] = [];
  #numbered: SqlStatement[] = [];
  /** The queued statements from here on are sent in one message. */
  #togetherFrom = Number.POSITIVE_INFINITY;
  /** True when a write was queued or sent. */
  hasWritten = false;

  constructor(
    send: (sql: string) => Promise<unknown>,
    format: (text: string, values: readonly SqlValue[]) => string,
    onStatement: ((text: string) => void) | undefined,
  ) {
    this.#send = send;
    this.#format = format;
    this.#onStatement = onStatement;
  }

  async rows<T>(text: string, values?: readonly SqlValue[]): Promise<readonly T[]> {
    const [rows] = await this.several([[text, values ?? []]]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns
    return (rows ?? []) as readonly T[];
  }

  async several(statements: readonly SqlStatement[]): Promise<readonly (readonly unknown[])[]> {
    const first = this.#queued.length;
    for (const [text, values] of statements) this.#queue(text, values);
    const results = await this.flush();
    return results.slice(first).map((result) => (Array.isArray(result) ? result : []));
  }

  /** Returns the index of the statement in the result of `flush`. */
  add(text: string, values?: readonly SqlValue[]): number {
    if (/^(?:INSERT|UPDATE|DELETE|REPLACE)/.test(text.trimStart())) this.hasWritten = true;
    return this.#queue(text, values);
  }

  async limitPending(): Promise<void> {
    if (this.#queued.length >= MAX_PENDING) await this.flush();
  }

  addNumbered(text: string, values?: readonly SqlValue[]): void {
    this.hasWritten = true;
    this.#numbered.push(values === undefined ? [text] : [text, values]);
  }

  /** Sends the statements that are queued after this call in one message. */
  sendTogether(): void {
    this.#togetherFrom = this.#queued.length;
  }

  /** Queues the statements of `addNumbered`. */
  addAllNumbered(): void {
    for (const [text, values] of this.#numbered) this.#queue(text, values);
    this.#numbered = [];
  }

  /** Sends what is queued. Returns the result of each statement. */
  async flush(): Promise<readonly unknown[]> {
    const messages = this.#takeMessages();
    const results: unknown[] = [];
    for (const message of messages) {
      for (const { text } of message) this.#onStatement?.(text);
      const result = await this.#send(message.map(({ sql }) => sql).join(';\n'));
      if (message.length === 1) results.push(result);
      else if (Array.isArray(result)) results.push(...(result as readonly unknown[]));
    }
    return results;
  }

  #takeMessages(): readonly (readonly QueuedStatement[])[] {
    const messages: QueuedStatement[][] = [];
    let length = Number.POSITIVE_INFINITY;
    for (const [index, statement] of this.#queued.entries()) {
      length += statement.sql.length;
      const last = messages.at(-1);
      if (last === undefined || (length > MAX_MESSAGE_LENGTH && index <= this.#togetherFrom)) {
        messages.push([statement]);
        length = statement.sql.length;
      } else last.push(statement);
    }
    this.#queued = [];
    this.#togetherFrom = Number.POSITIVE_INFINITY;
    return messages;
  }

  #queue(text: string, values: readonly SqlValue[] = []): number {
    const sql = values.length === 0 ? text : this.#format(text, values);
    return this.#queued.push({ text, sql }) - 1;
  }
}
