import {
  checkOptions,
  InvalidInputError,
  omitUndefined,
  optionTable,
  type OptionTable,
} from '../core/internal.ts';
import { ask } from './ask.ts';
import { ConnectionError } from './connection-error.ts';
import type { ContentBlock } from './content-block.ts';
import { delay, type Delay } from './delay.ts';
import { followChanges, type FollowedChange, type WatchOptions } from './follow-changes.ts';
import { FOLLOW_OPTIONS, followEvents, type FollowOptions } from './follow-events.ts';
import {
  FOLLOW_RECORDS_OPTIONS,
  followRecords,
  type FollowRecordsOptions,
} from './follow-records.ts';
import { HttpCaller, type HttpCallOptions, type Query } from './http-caller.ts';
import type {
  Agent,
  AgentChange,
  AgentParams,
  Environment,
  EnvironmentParams,
  Page,
  PageParams,
  PendingCall,
  PendingCallChange,
  Schedule,
  ScheduleParams,
  ScheduleRun,
  Session,
  SessionChange,
  SessionForkPoint,
  SessionMarking,
  SessionModelRequest,
  SessionNet,
  SessionParams,
  SessionRecord,
  ValueDetail,
  SessionListChange,
  Quota,
  UsageTotal,
} from './resources.ts';
import type { AcceptedEvent, SessionEvent, StreamedEvent } from './session-event.ts';
import { userMessage, type UserEvent, type UserMessage } from './user-event.ts';

/** Options of `createClient`: server address, API key, retries and timeouts. All are optional. */
export interface ClientOptions {
  /** Base URL of the server. A path in it is kept. Default: `http://127.0.0.1:8787`. */
  readonly baseUrl?: string;
  /** Sent as `x-api-key`. Not needed for a server with `keys: 'off'`. */
  readonly apiKey?: string;
  /** Default: the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /**
   * How often a request is retried after a connection failure, a timeout, or status 408, 429 or 5xx. A retry uses the
   * same idempotency key, so it takes effect once. Default: 6.
   */
  readonly retries?: number;
  /** How long to wait for a response, in milliseconds. For a stream it covers only the headers. Default: 30,000. */
  readonly timeoutMs?: number;
  /**
   * The longest `retry-after` that the client waits for, in milliseconds. If the server asks for more, the call rejects
   * with the server's error. Default: 60,000.
   */
  readonly maxRetryAfterMs?: number;
  /** Waits between retries. Default: the platform's timers. */
  readonly delay?: Delay;
}

/**
 * Options of one call: a signal that aborts it, and an idempotency key. Pass your own key to make a call take effect
 * once even if you repeat it after a restart. Default: a new key per call.
 */
export type RequestOptions = Pick<HttpCallOptions, 'signal' | 'idempotencyKey'>;

/**
 * A server's agents, environments, sessions and schedules.
 * Every method rejects with an ApiError, a ConnectionError, or the reason of an aborted signal.
 */
export interface Client {
  readonly agents: {
    readonly create: (agent: AgentParams, options?: RequestOptions) => Promise<Agent>;
    /** Default version: the newest. */
    readonly get: (id: string, version?: number) => Promise<Agent>;
    readonly list: (page?: PageParams) => AsyncIterable<Agent>;
    readonly update: (id: string, change: AgentChange) => Promise<Agent>;
    readonly archive: (id: string) => Promise<Agent>;
    /** The net that new sessions of the agent run. Default of `layout`: `columns`. */
    readonly net: (
      id: string,
      query?: { readonly version?: number; readonly layout?: SessionNet['layout']['engine'] },
    ) => Promise<SessionNet>;
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
    /** Pauses the session at its next settled step until it is resumed. No events are lost. */
    readonly pause: (id: string) => Promise<Session>;
    readonly resume: (id: string) => Promise<Session>;
    /**
     * Creates a session from the first `upToSeq` entries of this session's log, or from the steps of its journal that end
     * at `atRecord` or before. Default: all entries.
     */
    readonly fork: (id: string, cut?: number | { readonly atRecord: number }) => Promise<Session>;
    /** Rewinds the session to before the turn of an event. The log keeps all entries and records the rewind. */
    readonly rewind: (id: string, beforeEventId: string) => Promise<Session>;
    readonly delete: (id: string) => Promise<void>;
    /**
     * Sends events, or one text message, to the session. When it resolves, the events are stored durably, once each.
     */
    readonly send: (
      id: string,
      events: string | readonly UserEvent[],
      options?: RequestOptions,
    ) => Promise<readonly AcceptedEvent[]>;
    /**
     * Sends a message and resolves with the text of the agent's final answer. If you repeat it with the same
     * `idempotencyKey`, it resolves with the answer of the same turn. An aborted signal ends the wait, not the turn.
     * @throws TurnNotCompletedError when the turn waits for an approval or a result, was interrupted, or failed. Its
     * `pending` has the calls.
     */
    readonly ask: (
      id: string,
      message: string | UserMessage,
      options?: RequestOptions,
    ) => Promise<string>;
    /**
     * Approves a call that waits for an approval. `callId` is the id of the event that showed the call.
     * It rejects with an ApiError whose `errorCode` is `already_answered` or `call_not_pending`.
     */
    readonly approve: (
      id: string,
      callId: string,
      options?: RequestOptions,
    ) => Promise<AcceptedEvent>;
    /** Denies a call. The model gets the message. It rejects as `approve` does. */
    readonly deny: (
      id: string,
      callId: string,
      options?: RequestOptions & { readonly message?: string | undefined },
    ) => Promise<AcceptedEvent>;
    /** Submits the result of a call that the client answers. It rejects as `approve` does. */
    readonly answer: (
      id: string,
      callId: string,
      response: string | readonly ContentBlock[],
      options?: RequestOptions & { readonly isError?: boolean | undefined },
    ) => Promise<AcceptedEvent>;
    /** The events that exist now, oldest first unless `order` is `desc`. */
    readonly listEvents: (id: string, page?: PageParams) => AsyncIterable<SessionEvent>;
    /**
     * All events after a cursor, then new ones as they happen. Each event comes once and in order, across reconnects.
     * Ends with the session, or when the signal aborts.
     */
    readonly events: (id: string, options?: FollowOptions) => AsyncIterable<StreamedEvent>;
    /** The journal records that exist now, after a number, in order. Default of `values`: `none`. */
    readonly records: (
      id: string,
      query?: { readonly after?: number; readonly values?: ValueDetail; readonly limit?: number },
    ) => AsyncIterable<SessionRecord>;
    /** All records after a number, then new ones as they are committed. Ends when the signal aborts. */
    readonly followRecords: (
      id: string,
      options?: FollowRecordsOptions,
    ) => AsyncIterable<SessionRecord>;
    /** The tokens after the record `at`. Default of `at`: the last record. Default of `values`: `none`. */
    readonly marking: (
      id: string,
      query?: { readonly at?: number; readonly values?: ValueDetail },
    ) => Promise<SessionMarking>;
    /** The net of the agent. Default of `layout`: `columns`. */
    readonly net: (
      id: string,
      query?: { readonly layout?: SessionNet['layout']['engine'] },
    ) => Promise<SessionNet>;
    /** The request of the model call that the record `firing` started. */
    readonly modelRequest: (id: string, firing: number) => Promise<SessionModelRequest>;
    /** The log positions at which `fork` may cut. */
    readonly forkPoints: (
      id: string,
      query?: { readonly after?: number; readonly limit?: number },
    ) => AsyncIterable<SessionForkPoint>;
    /**
     * Changes in the list of sessions as they happen, also across reconnects. `after` continues after the `cursor` of a
     * change. List the sessions when `sessions.current` comes.
     */
    readonly changes: (
      options?: WatchOptions & { readonly agentId?: string; readonly after?: string },
    ) => AsyncIterable<FollowedChange<SessionListChange>>;
  };
  readonly pending: {
    /** The calls that wait, of all sessions, the longest waiting first. Filters: `agent_id`, `tool`, `needs`. */
    readonly list: (page?: PageParams) => AsyncIterable<PendingCall>;
    /**
     * The calls that wait, then their changes. After a reconnect the calls come again: `pending.reset` says to forget
     * the earlier ones.
     */
    readonly watch: (options?: WatchOptions & PendingFilter) => AsyncIterable<PendingCallChange>;
  };
  readonly schedules: {
    /** A repeated call with the same id and definition returns the schedule. */
    readonly create: (schedule: ScheduleParams, options?: RequestOptions) => Promise<Schedule>;
    readonly get: (id: string) => Promise<Schedule>;
    readonly list: (page?: PageParams) => AsyncIterable<Schedule>;
    /** Due times pass without a run until `resume`. */
    readonly pause: (id: string) => Promise<Schedule>;
    /** Continues with the next due time after now. */
    readonly resume: (id: string) => Promise<Schedule>;
    /** Starts a run now. Returns its id, which `runs` lists. */
    readonly run: (id: string, options?: RequestOptions) => Promise<string>;
    /** The last runs, the last due first: 100 at most. */
    readonly runs: (id: string) => Promise<readonly ScheduleRun[]>;
    /** Deletes the schedule and its history. Sessions that it started stay. */
    readonly delete: (id: string) => Promise<void>;
  };
  /** Tokens and model calls of the workspace, by `agent`, `day` and `model`. */
  readonly usage: (query?: UsageParams) => Promise<readonly UsageTotal[]>;
  /** Lists the quotas of the workspace, and what is used of them. */
  readonly quotas: () => Promise<readonly Quota[]>;
}

/** Selects pending calls. */
export interface PendingFilter {
  /** The agent that made the call. */
  readonly agentId?: string;
  /** The name of the tool. */
  readonly tool?: string;
  readonly needs?: PendingCall['needs'];
}

/** Selects and groups usage. Days are UTC days, as `YYYY-MM-DD`, both included. */
export interface UsageParams {
  /** Default: one total. */
  readonly by?: readonly ('agent' | 'day' | 'model')[];
  readonly from?: string;
  readonly to?: string;
  readonly agentId?: string;
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

/**
 * Creates a client for a server. It keeps no connection open, so there is nothing to close.
 * @throws UnknownFieldError for an unknown option
 * @throws InvalidInputError for a `baseUrl` that is neither of http nor a path of the page
 */
export function createClient(options: ClientOptions = {}): Client {
  checkOptions(CLIENT_OPTIONS, options);
  const {
    baseUrl = DEFAULT_URL,
    apiKey,
    retries = 6,
    timeoutMs = 30_000,
    maxRetryAfterMs = 60_000,
  } = options;
  // The value is not in the message, because it can contain a password.
  if (!/^(?:https?:\/\/|\/|$)/i.test(baseUrl))
    throw new InvalidInputError(
      'baseUrl',
      `must begin with http:// or https://, for example ${DEFAULT_URL}.`,
    );
  const caller = new HttpCaller({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    fetch: options.fetch ?? (async (...args) => globalThis.fetch(...args)),
    retries,
    maxRetryAfterMs,
    timeoutMs,
    delay: options.delay ?? delay,
  });
  const sendOne = async (
    id: string,
    event: UserEvent,
    { signal, idempotencyKey }: RequestOptions = {},
  ): Promise<AcceptedEvent> => {
    const [accepted] = await client.sessions.send(
      id,
      [event],
      omitUndefined({ signal, idempotencyKey }),
    );
    if (accepted === undefined)
      throw new ConnectionError(sessionPath(id), 'the response lists no event');
    return accepted;
  };
  const client: Client = {
    agents: {
      create: async (body, requestOptions) =>
        caller.call('POST', '/v1/agents', { body, ...requestOptions }),
      get: async (id, version) =>
        caller.call('GET', `/v1/agents/${encodeSegment(id)}`, { query: { version } }),
      list: (page) => paginate(caller, '/v1/agents', page),
      update: async (id, body) => caller.call('POST', `/v1/agents/${encodeSegment(id)}`, { body }),
      archive: async (id) => caller.call('POST', `/v1/agents/${encodeSegment(id)}/archive`),
      net: async (id, query) =>
        caller.call('GET', `/v1/agents/${encodeSegment(id)}/net`, { query }),
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
      fork: async (id, cut) =>
        caller.call('POST', `${sessionPath(id)}/fork`, {
          body: typeof cut === 'object' ? { at_record: cut.atRecord } : { up_to_seq: cut ?? null },
        }),
      rewind: async (id, before) =>
        caller.call('POST', `${sessionPath(id)}/rewind`, { body: { before_event_id: before } }),
      delete: async (id) => {
        await caller.call('DELETE', sessionPath(id));
      },
      send: async (id, input, more) => {
        const events = typeof input === 'string' ? [userMessage(input)] : input;
        const path = `${sessionPath(id)}/events`;
        const { data } = await caller.call<{ readonly data: readonly AcceptedEvent[] }>(
          'POST',
          path,
          {
            body: { events },
            ...more,
          },
        );
        return data;
      },
      ask: async (id, message, more) => ask(client.sessions, id, message, more),
      approve: async (id, callId, more) =>
        sendOne(id, { type: 'user.tool_confirmation', tool_use_id: callId, result: 'allow' }, more),
      deny: async (id, callId, { message, ...more } = {}) =>
        sendOne(
          id,
          {
            type: 'user.tool_confirmation',
            tool_use_id: callId,
            result: 'deny',
            ...omitUndefined({ deny_message: message }),
          },
          more,
        ),
      answer: async (id, callId, response, { isError, ...more } = {}) =>
        sendOne(
          id,
          {
            type: 'user.tool_result',
            tool_use_id: callId,
            content: typeof response === 'string' ? [{ type: 'text', text: response }] : response,
            ...omitUndefined({ is_error: isError }),
          },
          more,
        ),
      listEvents: (id, page) => paginate(caller, `${sessionPath(id)}/events`, page),
      events: (id, follow = {}) => {
        checkOptions(FOLLOW_OPTIONS, follow);
        return followEvents(caller, `${sessionPath(id)}/events/stream`, follow);
      },
      records: (id, query) => paginate(caller, `${sessionPath(id)}/records`, query),
      followRecords: (id, follow = {}) => {
        checkOptions(FOLLOW_RECORDS_OPTIONS, follow);
        return followRecords(caller, `${sessionPath(id)}/records/stream`, follow);
      },
      marking: async (id, query) => caller.call('GET', `${sessionPath(id)}/marking`, { query }),
      net: async (id, query) => caller.call('GET', `${sessionPath(id)}/net`, { query }),
      modelRequest: async (id, firing) =>
        caller.call('GET', `${sessionPath(id)}/firings/${firing}/request`),
      forkPoints: (id, query) => paginate(caller, `${sessionPath(id)}/fork_points`, query),
      changes: ({ agentId, after, ...watch } = {}) =>
        followChanges(caller, '/v1/stream', { agent_id: agentId, after_id: after }, watch),
    },
    pending: {
      list: (page) => paginate(caller, '/v1/pending', page),
      watch: ({ agentId, tool, needs, ...watch } = {}) =>
        watchPending(caller, { agent_id: agentId, tool, needs }, watch),
    },
    schedules: {
      create: async (body, more) => caller.call('POST', '/v1/schedules', { body, ...more }),
      get: async (id) => caller.call('GET', schedulePath(id)),
      list: (page) => paginate(caller, '/v1/schedules', page),
      pause: async (id) => caller.call('POST', `${schedulePath(id)}/pause`),
      resume: async (id) => caller.call('POST', `${schedulePath(id)}/resume`),
      run: async (id, more) => {
        const path = `${schedulePath(id)}/run`;
        return (await caller.call<{ readonly id: string }>('POST', path, { ...more })).id;
      },
      runs: async (id) => {
        const path = `${schedulePath(id)}/runs`;
        return (await caller.call<{ readonly data: readonly ScheduleRun[] }>('GET', path)).data;
      },
      delete: async (id) => {
        await caller.call('DELETE', schedulePath(id));
      },
    },
    quotas: async () =>
      (await caller.call<{ readonly data: readonly Quota[] }>('GET', '/v1/quotas')).data,
    usage: async ({ by, from, to, agentId } = {}) => {
      const query = { by, from, to, agent_id: agentId };
      const { data } = await caller.call<{ readonly data: readonly UsageTotal[] }>(
        'GET',
        '/v1/usage',
        { query },
      );
      return data;
    },
  };
  return client;
}

function schedulePath(id: string): string {
  return `/v1/schedules/${encodeSegment(id)}`;
}

function sessionPath(id: string): string {
  return `/v1/sessions/${encodeSegment(id)}`;
}

/**
 * Encodes an id as one path segment, whatever characters it contains.
 * @throws InvalidInputError for an id that is no path segment: the request would reach another route
 */
function encodeSegment(id: string): string {
  if (id === '' || id === '.' || id === '..')
    throw new InvalidInputError(
      'id',
      `"${id}" cannot be part of the path of a URL: no resource has it.`,
    );
  return encodeURIComponent(id);
}

async function* watchPending(
  caller: HttpCaller,
  query: Query,
  options: WatchOptions,
): AsyncGenerator<PendingCallChange, void, undefined> {
  const path = '/v1/pending/stream';
  for await (const { change } of followChanges<PendingCallChange>(caller, path, query, options))
    yield change;
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
