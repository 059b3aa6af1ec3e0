import type pg from 'pg';
import { cork } from './cork.ts';
import { isConnectionLost, isNotPrepared } from './postgres-errors.ts';

interface WaitingRead {
  readonly text: string;
  readonly run: (client: pg.PoolClient) => Promise<unknown>;
  readonly resolve: (rows: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The most reads that share a connection at a time. */
const MAX_GROUP = 32;

/**
 * Sends the reads that are made in one turn of the event loop over one connection in one packet, because a round trip
 * costs more than a read by key. Each read still has a result or an error of its own.
 */
export class GroupedReads {
  readonly #withClient: (action: (client: pg.PoolClient) => Promise<void>) => Promise<void>;
  #waiting: WaitingRead[] = [];

  /** @param withClient runs an action with a connection, which it replaces if the action rejects because it broke */
  constructor(withClient: (action: (client: pg.PoolClient) => Promise<void>) => Promise<void>) {
    this.#withClient = withClient;
  }

  /** @param text the statement that `run` sends */
  async read<T>(text: string, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `run` of this read returns it
      this.#waiting.push({ text, run, resolve: (rows) => resolve(rows as T), reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#sendAll());
    });
  }

  #sendAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let first = 0; first < waiting.length; first += MAX_GROUP) {
      const group = waiting.slice(first, first + MAX_GROUP);
      this.#withClient(async (client) => sendGroup(client, group)).catch((error: unknown) => {
        for (const { reject } of group) reject(error);
      });
    }
  }
}

/** @throws the error of the connection, if it broke */
async function sendGroup(client: pg.PoolClient, group: readonly WaitingRead[]): Promise<void> {
  const lost: unknown[] = [];
  const errors = new Map<string, unknown>();
  const send = cork(client);
  const settled = group.map(async ({ text, run, resolve, reject }) => {
    try {
      resolve(await run(client));
    } catch (error) {
      if (isConnectionLost(error)) lost.push(error);
      // The first read of a group prepares its statement for the others, which fail with it.
      const cause = isNotPrepared(error) ? (errors.get(text) ?? error) : error;
      errors.set(text, cause);
      reject(cause);
    }
  });
  send();
  await Promise.all(settled);
  if (lost.length > 0) throw lost[0];
}
