import { checkOptions, optionTable, type OptionTable } from '../core/validation/option-table.ts';
import { followEvents, type FollowOptions } from './follow-events.ts';
import { HttpCaller, type HttpCallOptions } from './http-caller.ts';
import { delay, type Delay } from './delay.ts';
import type {
  Agent,
  AgentChange,
  AgentParams,
  Environment,
  EnvironmentParams,
  Page,
  PageParams,
  Session,
  SessionChange,
  SessionParams,
} from './resources.ts';
import type { SessionEvent, StreamedEvent } from './session-event.ts';
import { userMessage, type UserEvent } from './user-event.ts';

/** Which server a client calls, with which key, and how long it goes on trying; all of it is optional. */
export interface ClientOptions {
  /** `http://127.0.0.1:8787` unless said. */
  readonly baseUrl?: string;
  /** Sent as `x-api-key`; a server whose keys are off needs none. */
  readonly apiKey?: string;
  /** The platform's own unless given. */
  readonly fetch?: typeof globalThis.fetch;
  /** How often a request that may have failed in passing is repeated; 6. Nothing is done twice by it. */
  readonly retries?: number;
  /** How long a reply may take; 30,000 milliseconds. A stream may go on for ever. */
  readonly timeoutMs?: number;
  /**
   * The longest `retry-after` of a server that is waited for, in milliseconds. After a longer one the call rejects with
   * the server's error. Default: 60,000.
   */
  readonly maxRetryAfterMs?: number;
  /** How to wait between repetitions. */
  readonly delay?: Delay;
}

/**
 * What one call may say beside its body: a signal that ends it, and an idempotency key of your own, so that a call
 * which is made again after a restart still happens once. Without a key each call makes its own.
 */
export type RequestOptions = Pick<HttpCallOptions, 'signal' | 'idempotencyKey'>;

/** A server's agents, environments and sessions. Every method rejects with an ApiError or a ConnectionError. */
export interface Client {
  readonly agents: {
    readonly create: (agent: AgentParams, options?: RequestOptions) => Promise<Agent>;
    /** The newest version unless one is named. */
    readonly get: (id: string, version?: number) => Promise<Agent>;
    readonly list: (page?: PageParams) => AsyncIterable<Agent>;
    readonly update: (id: string, change: AgentChange) => Promise<Agent>;
    readonly archive: (id: string) => Promise<Agent>;
  };
  readonly environments: {
    readonly create: (
      environment: EnvironmentParams,
      options?: RequestOptions,
    ) => Promise<Environment>;
    readonly list: (page?: PageParams) => AsyncIterable<Environment>;
  };
  readonly sessions: {
    readonly create: (session: SessionParams, options?: RequestOptions) => Promise<Session>;
    readonly get: (id: string) => Promise<Session>;
    readonly list: (page?: PageParams) => AsyncIterable<Session>;
    readonly update: (id: string, change: SessionChange) => Promise<Session>;
    readonly archive: (id: string) => Promise<Session>;
    /** Holds it at its next settled step, until it is resumed; nothing of it is lost. */
    readonly pause: (id: string) => Promise<Session>;
    readonly resume: (id: string) => Promise<Session>;
    /** A new session that begins with the first entries of this one's log; all of them unless said. */
    readonly fork: (id: string, upToSeq?: number) => Promise<Session>;
    /** Takes it back to before the turn of an event; its log keeps everything, and says so. */
    readonly rewind: (id: string, beforeEventId: string) => Promise<Session>;
    readonly delete: (id: string) => Promise<void>;
    /** Puts events, or a message of plain text, before the session; durable when it resolves, and there once. */
    readonly send: (
      id: string,
      events: string | readonly UserEvent[],
      options?: RequestOptions,
    ) => Promise<readonly { readonly id: string; readonly type: string }[]>;
    /** The events there are. */
    readonly listEvents: (id: string, page?: PageParams) => AsyncIterable<SessionEvent>;
    /**
     * All events after a cursor, then what happens, each once and in order, whatever becomes of the connection. Ends
     * with the session, or when the signal aborts.
     */
    readonly events: (id: string, options?: FollowOptions) => AsyncIterable<StreamedEvent>;
  };
}

/** The options of `createClient`. */
export const CLIENT_OPTIONS: OptionTable = optionTable<ClientOptions>(
  'createClient',
  {
    baseUrl: true,
    apiKey: true,
    fetch: true,
    retries: true,
    timeoutMs: true,
    maxRetryAfterMs: true,
    delay: true,
  },
  { baseURL: 'baseUrl', url: 'baseUrl', maxRetries: 'retries', timeout: 'timeoutMs' },
);

const DEFAULT_URL = 'http://127.0.0.1:8787';

/** A client of a server. It holds no connection: there is nothing to close. */
export function createClient(options: ClientOptions = {}): Client {
  checkOptions(CLIENT_OPTIONS, options);
  const {
    baseUrl = DEFAULT_URL,
    apiKey,
    retries = 6,
    timeoutMs = 30_000,
    maxRetryAfterMs = 60_000,
  } = options;
  const caller = new HttpCaller({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    fetch: options.fetch ?? (async (...args) => globalThis.fetch(...args)),
    retries,
    maxRetryAfterMs,
    timeoutMs,
    delay: options.delay ?? delay,
  });
  return {
    agents: {
      create: async (body, requestOptions) =>
        caller.call('POST', '/v1/agents', { body, ...requestOptions }),
      get: async (id, version) =>
        caller.call('GET', `/v1/agents/${encodeSegment(id)}`, { query: { version } }),
      list: (page) => paginate(caller, '/v1/agents', page),
      update: async (id, body) => caller.call('POST', `/v1/agents/${encodeSegment(id)}`, { body }),
      archive: async (id) => caller.call('POST', `/v1/agents/${encodeSegment(id)}/archive`),
    },
    environments: {
      create: async (body, more) => caller.call('POST', '/v1/environments', { body, ...more }),
      list: (page) => paginate(caller, '/v1/environments', page),
    },
    sessions: {
      create: async (body, more) => caller.call('POST', '/v1/sessions', { body, ...more }),
      get: async (id) => caller.call('GET', sessionPath(id)),
      list: (page) => paginate(caller, '/v1/sessions', page),
      update: async (id, body) => caller.call('POST', sessionPath(id), { body }),
      archive: async (id) => caller.call('POST', `${sessionPath(id)}/archive`),
      pause: async (id) => caller.call('POST', `${sessionPath(id)}/pause`),
      resume: async (id) => caller.call('POST', `${sessionPath(id)}/resume`),
      fork: async (id, upTo) =>
        caller.call('POST', `${sessionPath(id)}/fork`, { body: { up_to_seq: upTo ?? null } }),
      rewind: async (id, before) =>
        caller.call('POST', `${sessionPath(id)}/rewind`, { body: { before_event_id: before } }),
      delete: async (id) => {
        await caller.call('DELETE', sessionPath(id));
      },
      send: async (id, input, more) => {
        const events = typeof input === 'string' ? [userMessage(input)] : input;
        const path = `${sessionPath(id)}/events`;
        const { data } = await caller.call<Page<{ readonly id: string; readonly type: string }>>(
          'POST',
          path,
          { body: { events }, ...more },
        );
        return data;
      },
      listEvents: (id, page) => paginate(caller, `${sessionPath(id)}/events`, page),
      events: (id, follow = {}) => followEvents(caller, `${sessionPath(id)}/events/stream`, follow),
    },
  };
}

function sessionPath(id: string): string {
  return `/v1/sessions/${encodeSegment(id)}`;
}

/** An id is one part of a path, whatever it holds. */
function encodeSegment(id: string): string {
  return encodeURIComponent(id);
}

async function* paginate<T>(
  caller: HttpCaller,
  path: string,
  query: PageParams = {},
): AsyncGenerator<T, void, undefined> {
  let page = query.page;
  do {
    const found: Page<T> = await caller.call<Page<T>>('GET', path, { query: { ...query, page } });
    yield* found.data;
    page = found.next_page ?? undefined;
  } while (page !== undefined);
}
