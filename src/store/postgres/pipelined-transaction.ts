import type pg from 'pg';
import { cork } from './cork.ts';
import type { WriteQueries } from './queries.ts';

/** The most statements without a result before a loop waits. */
const MAX_PENDING = 64;

type Query = (text: string, values: readonly unknown[]) => Promise<readonly unknown[]>;

/**
 * The statements of one transaction. Those that need no result from an earlier one are sent in one packet: a round trip
 * costs more than most of the statements. After a statement that fails, the server refuses the later ones.
 */
export class PipelinedTransaction implements WriteQueries {
  readonly #client: pg.PoolClient;
  readonly #query: Query;
  /** Sent, without a result yet. */
  readonly #sent: Promise<unknown>[] = [];

  constructor(client: pg.PoolClient, query: Query) {
    this.#client = client;
    this.#query = query;
  }

  begin(text: string): void {
    this.#collect();
    this.#send(this.#client.query(text));
  }

  add(text: string, values: readonly unknown[] = []): void {
    this.#collect();
    this.#send(this.#query(text, values));
  }

  async rows<T>(text: string, values: readonly unknown[] = []): Promise<readonly T[]> {
    this.#send(this.#query(text, values));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns
    return (await this.#results()) as readonly T[];
  }

  async exec(text: string): Promise<void> {
    this.#send(this.#client.query(text));
    await this.#results();
  }

  async limitPending(): Promise<void> {
    if (this.#sent.length >= MAX_PENDING) await this.#results();
  }

  #send(query: Promise<unknown>): void {
    // `#results` reports its error.
    query.catch(() => undefined);
    this.#sent.push(query);
  }

  /**
   * Waits for all results. Returns the last one.
   * @throws the error of the first statement that failed, because the later errors follow from it
   */
  async #results(): Promise<unknown> {
    const results = await Promise.allSettled(this.#sent.splice(0));
    const failed = results.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    const last = results.at(-1);
    return last?.status === 'fulfilled' ? last.value : undefined;
  }

  /** Collects what the callbacks and promises of this turn of the event loop send. */
  #collect(): void {
    setImmediate(cork(this.#client));
  }
}
