import { createClient } from '../../../src/client/index.ts';
import type { Client } from '../../../src/client/index.ts';
import { delay } from '../../../src/client/delay.ts';
import { HttpCaller } from '../../../src/client/http-caller.ts';
import type { HttpCallOptions } from '../../../src/client/http-caller.ts';
import { readConnection } from '../../../src/client/read-connection.ts';

import { PageConnections } from './page-connections.ts';
import type { Follow } from './types.ts';

/** A client with the routes that only the console needs. */
export interface ConsoleClient extends Client {
  readonly call: <T>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    options?: HttpCallOptions,
  ) => Promise<T>;
  /** Reads a response that is no JSON. */
  readonly readText: (path: string, query: Readonly<Record<string, string>>) => Promise<string>;
  readonly follow: Follow;
}

export interface ConsoleClientOptions {
  readonly server: string;
  readonly key: string;
  /** Called after each attempt to reach the server. */
  readonly onReached: (reached: boolean) => void;
}

const connections = new PageConnections(document);

/** The longest wait between two attempts to reach the server, in milliseconds: a person is looking. */
const MOST_WAIT_MS = 1500;

/** Creates the client of the console. It tries for as long as the page is open. */
export function createConsoleClient({
  server,
  key,
  onReached,
}: ConsoleClientOptions): ConsoleClient {
  const baseUrl = server.replace(/\/+$/, '');
  const watched: typeof fetch = async (input, init) => {
    await connections.mayConnect();
    const signals = [connections.signal, ...(init?.signal == null ? [] : [init.signal])];
    const signal = AbortSignal.any(signals);
    try {
      const response = await fetch(input, { ...init, signal });
      onReached(response.status !== 503);
      return response;
    } catch (error) {
      if (!signal.aborted) onReached(false);
      throw error;
    }
  };
  const options = {
    baseUrl,
    fetch: watched,
    retries: 6,
    timeoutMs: 30_000,
    maxRetryAfterMs: 60_000,
    delay: async (ms: number, signal?: AbortSignal) => delay(Math.min(ms, MOST_WAIT_MS), signal),
  };
  const client = createClient({ ...options, ...(key !== '' && { apiKey: key }) });
  const caller = new HttpCaller({ ...options, apiKey: key === '' ? undefined : key });
  const call: ConsoleClient['call'] = async (method, path, more) => caller.call(method, path, more);
  return {
    ...client,
    call,
    readText: async (path, query) => {
      const { signal } = new AbortController();
      return (await caller.open(path, { query, signal, headers: {} })).text();
    },
    follow: async function* <T>(path: string, aborted: AbortSignal) {
      const connection = { query: {}, lastId: undefined, idleTimeoutMs: undefined };
      for await (const { data } of readConnection(caller, path, { ...connection, signal: aborted }))
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server sends this type on this path
        yield JSON.parse(data) as T;
    },
  };
}
