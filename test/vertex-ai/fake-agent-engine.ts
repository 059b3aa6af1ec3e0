import { decodeJson, isJsonObject } from '../../src/core/index.ts';
import type { JsonObject } from '../../src/core/index.ts';
import type { FakeAnswer, FakeRequest } from '../artifacts/fake-server.ts';
import { failure, json } from './fake-answers.ts';
import { FakeMemories } from './fake-memories.ts';

export const TOKEN = 'access-token-of-the-fake';

/** Names in responses have the number of the project instead of its id. */
const PROJECT = /^\/v1beta1\/projects\/(?:p1|1234567)\/locations\/us-central1\/(.+)$/;

/** The members of the request bodies, as the reference of the REST API lists them. */
const SESSION_MEMBERS = ['displayName', 'expireTime', 'labels', 'sessionState', 'ttl', 'userId'];
const EVENT_MEMBERS =
  'actions author content errorCode errorMessage eventMetadata invocationId rawEvent timestamp'.split(
    ' ',
  );

interface FakeSession {
  readonly resource: { [name: string]: JsonObject[string] };
  readonly events: JsonObject[];
}

/** How a fake answers. Members can be changed while it runs. */
export interface FakeBehavior {
  /** Number of times that the operation of a new session is asked for before it is done. */
  pollsToCreate: number;
  /** `appendEvent` answers 400 to a body with `rawEvent`, as earlier releases of the API do. */
  refusesRawEvents: boolean;
  /** Events in a page, unless the request asks for fewer. */
  eventsPerPage: number;
  /** Sessions in a page. */
  sessionsPerPage: number;
  /** Called before the response to a request is sent, with the number of requests so far. */
  onResponse: (count: number) => void | Promise<void>;
  /** The status with which requests to a path that contains `path` fail. */
  failure:
    | { readonly path: string; readonly status: number; readonly afterEffect?: true }
    | undefined;
}

/**
 * Sessions and memories of Agent Engine on loopback, and the token endpoint of its credentials: what the reference of the
 * REST API says of `reasoningEngines.sessions`, `.sessions.events`, `.memories` and their operations.
 */
export class FakeAgentEngine {
  readonly sessions: Map<string, FakeSession> = new Map();
  readonly memories: FakeMemories = new FakeMemories();
  /** Each request as `POST /path`, in order. */
  readonly requests: string[] = [];
  readonly behavior: FakeBehavior = {
    pollsToCreate: 0,
    refusesRawEvents: false,
    eventsPerPage: 100,
    sessionsPerPage: 100,
    onResponse: () => undefined,
    failure: undefined,
  };
  readonly #polls = new Map<string, number>();
  #ids = 0;

  /** The stored events of a session, ordered by time as the API lists them. */
  events(sessionId: string, engine = '456'): readonly JsonObject[] {
    return this.#listEvents(this.sessions.get(`${engine}/${sessionId}`));
  }

  /** The texts of the stored events of a session. */
  texts(sessionId: string): readonly string[] {
    return this.events(sessionId).map(({ content }) => {
      const parts = isJsonObject(content) ? content['parts'] : [];
      return (Array.isArray(parts) ? parts : [])
        .map((part) => (isJsonObject(part) ? String(part['text'] ?? Object.keys(part)[0]) : ''))
        .join('');
    });
  }

  answer = async (request: FakeRequest): Promise<FakeAnswer> => {
    const { method, url, headers } = request;
    const { failure: failing } = this.behavior;
    const fails = failing !== undefined && url.pathname.includes(failing.path);
    if (url.pathname === '/v1/token' && !fails)
      return json(200, {
        access_token: TOKEN,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 3600,
      });
    this.requests.push(`${method} ${url.pathname}`);
    if (headers.authorization !== `Bearer ${TOKEN}`) return failure(401, 'UNAUTHENTICATED');
    if (fails && failing.afterEffect !== true) return failure(failing.status, 'UNAVAILABLE');
    const response = this.#route(request);
    await this.behavior.onResponse(this.requests.length);
    return fails ? failure(failing.status, 'UNAVAILABLE') : response;
  };

  #route({ method, url, body }: FakeRequest): FakeAnswer {
    const [, path = ''] = PROJECT.exec(url.pathname) ?? [];
    const input = body.length === 0 ? {} : decodeJson(body.toString('utf8'), 'body');
    if (!isJsonObject(input)) return failure(400, 'INVALID_ARGUMENT');
    const { searchParams: query } = url;
    const [, engine, rest] = /^reasoningEngines\/(\d+)\/(.+)$/.exec(path) ?? [];
    if (engine === undefined || rest === undefined) return failure(404, 'NOT_FOUND');
    if (rest.startsWith('memories'))
      return this.memories.answer(method, `reasoningEngines/${engine}`, rest, input);
    if (rest === 'sessions')
      return method === 'POST' ? this.#create(engine, query, input) : this.#list(engine, query);
    const [, id = '', action] = /^sessions\/([^/:]+)(?:[/:](.+))?$/.exec(rest) ?? [];
    if (action?.startsWith('operations/') === true) return this.#poll(engine, id);
    const session = this.sessions.get(`${engine}/${id}`);
    if (session === undefined) return failure(404, 'NOT_FOUND');
    if (action === 'appendEvent' && method === 'POST') return this.#append(session, input);
    if (action === 'events' && method === 'GET') return this.#eventPage(session, query);
    if (action === undefined && method === 'GET') return json(200, session.resource);
    if (action !== undefined || method !== 'DELETE') return failure(404, 'NOT_FOUND');
    this.sessions.delete(`${engine}/${id}`);
    return json(200, { name: `${toName(engine, id)}/operations/1`, done: true });
  }

  #create(engine: string, query: URLSearchParams, input: JsonObject): FakeAnswer {
    const unknown = Object.keys(input).find((name) => !SESSION_MEMBERS.includes(name));
    if (unknown !== undefined || typeof input['userId'] !== 'string')
      return failure(400, 'INVALID_ARGUMENT');
    const id = query.get('sessionId') ?? String(7000 + ++this.#ids);
    if (this.sessions.has(`${engine}/${id}`)) return failure(409, 'ALREADY_EXISTS');
    const at = new Date(1_700_000_000_000 + ++this.#ids).toISOString();
    const resource = {
      ...input,
      name: toName(engine, id),
      createTime: at,
      updateTime: at,
    };
    this.sessions.set(`${engine}/${id}`, { resource, events: [] });
    this.#polls.set(`${engine}/${id}`, this.behavior.pollsToCreate);
    return this.#poll(engine, id);
  }

  /** The operation that creates a session. */
  #poll(engine: string, id: string): FakeAnswer {
    const left = this.#polls.get(`${engine}/${id}`) ?? 0;
    this.#polls.set(`${engine}/${id}`, left - 1);
    const name = `${toName(engine, id)}/operations/1`;
    const response = this.sessions.get(`${engine}/${id}`)?.resource ?? {};
    return json(200, left > 0 ? { name } : { name, done: true, response });
  }

  #list(engine: string, query: URLSearchParams): FakeAnswer {
    const [, quoted] = /^user_id=("(?:[^"\\]|\\.)*")$/.exec(query.get('filter') ?? '') ?? [];
    if (query.has('filter') && quoted === undefined) return failure(400, 'INVALID_ARGUMENT');
    const userId = quoted === undefined ? undefined : decodeJson(quoted, 'filter');
    const found = [...this.sessions]
      .filter(([key]) => key.startsWith(`${engine}/`))
      .map(([, { resource }]) => resource)
      .filter((resource) => userId === undefined || resource['userId'] === userId);
    const { page, rest } = paginate(found, query, this.behavior.sessionsPerPage);
    return json(200, { sessions: page, ...rest });
  }

  #append(session: FakeSession, input: JsonObject): FakeAnswer {
    const unknown = Object.keys(input).find((name) => !EVENT_MEMBERS.includes(name));
    const { author, invocationId, timestamp, actions, rawEvent } = input;
    const isComplete = [author, invocationId].every((one) => typeof one === 'string' && one !== '');
    if (unknown !== undefined || !isComplete || Number.isNaN(Date.parse(String(timestamp))))
      return failure(400, 'INVALID_ARGUMENT');
    if (rawEvent !== undefined && this.behavior.refusesRawEvents)
      return failure(400, 'INVALID_ARGUMENT');
    const { resource, events } = session;
    const event = { ...input, name: `${String(resource['name'])}/events/${++this.#ids + 5000}` };
    events.push(event);
    const delta = isJsonObject(actions) ? actions['stateDelta'] : undefined;
    resource['sessionState'] = { ...Object(resource['sessionState']), ...Object(delta) };
    resource['updateTime'] = new Date(1_700_000_000_000 + this.#ids).toISOString();
    return json(200, {});
  }

  #eventPage(session: FakeSession, query: URLSearchParams): FakeAnswer {
    const filter = query.get('filter');
    const [, from] = /^timestamp>="([^"]+)"$/.exec(filter ?? '') ?? [];
    if (filter !== null && from === undefined) return failure(400, 'INVALID_ARGUMENT');
    const found = this.#listEvents(session).filter(
      ({ timestamp }) => from === undefined || Date.parse(String(timestamp)) >= Date.parse(from),
    );
    const { page, rest } = paginate(found, query, this.behavior.eventsPerPage);
    return json(200, { ...(page.length > 0 && { sessionEvents: page }), ...rest });
  }

  #listEvents(session: FakeSession | undefined): readonly JsonObject[] {
    return (session?.events ?? []).toSorted(
      (a, b) => Date.parse(String(a['timestamp'])) - Date.parse(String(b['timestamp'])),
    );
  }
}

function paginate<T>(
  all: readonly T[],
  query: URLSearchParams,
  most: number,
): { readonly page: readonly T[]; readonly rest: { readonly nextPageToken?: string } } {
  const start = Number(query.get('pageToken') ?? 0);
  const size = Math.min(most, Number(query.get('pageSize') ?? most));
  const end = start + size;
  return {
    page: all.slice(start, end),
    rest: end < all.length ? { nextPageToken: String(end) } : {},
  };
}

function toName(engine: string, id: string): string {
  return `projects/1234567/locations/us-central1/reasoningEngines/${engine}/sessions/${id}`;
}
