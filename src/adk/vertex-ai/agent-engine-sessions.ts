import { setTimeout } from 'node:timers/promises';
import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { REQUEST_TIMEOUT_MS } from './agent-engine.ts';
import type { AgentEngine } from './agent-engine.ts';
import { VertexAiRequestError } from './vertex-ai-errors.ts';

/** A session as Agent Engine stores it. */
export interface RemoteSession {
  readonly id: string;
  readonly userId: string;
  readonly state: JsonObject;
  /** RFC 3339. A session that was deleted and created again has another one. */
  readonly createTime: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
}

/** An event to append, in the form of the API. */
export interface AgentEngineEvent {
  readonly author: string;
  readonly invocationId: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly config: JsonObject;
}

/** A session to create. At most one of `ttl` and `expireTime`. */
export interface NewRemoteSession {
  readonly userId: string;
  readonly sessionId?: string | undefined;
  readonly sessionState?: JsonObject | undefined;
  readonly ttl?: string | undefined;
  readonly expireTime?: string | undefined;
}

const POLL_MS = 1000;
const MAX_POLLS = 30;
const httpOptions = { timeout: REQUEST_TIMEOUT_MS };

/** The sessions of an Agent Engine, over Google's client. Every method throws `VertexAiRequestError`. */
export class AgentEngineSessions {
  readonly #engine: AgentEngine;
  readonly #sleep: (ms: number) => Promise<unknown>;

  constructor(engine: AgentEngine, sleep: (ms: number) => Promise<unknown> = setTimeout) {
    this.#engine = engine;
    this.#sleep = sleep;
  }

  /** Creates a session and waits until it exists. Fails with the status 409 if the id is taken. */
  async create(parent: string, { userId, ...rest }: NewRemoteSession): Promise<RemoteSession> {
    const operation = 'create a session';
    let created = await this.#engine.call(operation, async ({ sessions }) =>
      sessions.createInternal({
        name: parent,
        userId,
        config: { httpOptions, ...omitUndefined(rest) },
      }),
    );
    for (let polls = 0; created.done !== true && polls < MAX_POLLS; polls++) {
      await this.#sleep(POLL_MS);
      const { name: operationName = '' } = created;
      created = await this.#engine.call(operation, async ({ sessions }) =>
        sessions.getSessionOperationInternal({ operationName, config: { httpOptions } }),
      );
    }
    const { done, error, response } = created;
    const id = readId(response?.name);
    if (done !== true || error !== undefined || id === '')
      throw new VertexAiRequestError(operation, undefined, { cause: error });
    if (response?.createTime !== undefined) return toRemoteSession(response);
    const stored = await this.get(`${parent}/sessions/${id}`);
    if (stored === undefined) throw new VertexAiRequestError(operation, 404);
    return stored;
  }

  /** Returns undefined if there is no such session. */
  async get(name: string): Promise<RemoteSession | undefined> {
    const found = await undefinedIfGone(async () =>
      this.#engine.call('read a session', async ({ sessions }) =>
        sessions.get({ name, config: { httpOptions } }),
      ),
    );
    return found && toRemoteSession(found);
  }

  /** Lists all sessions, or those of a user. */
  async list(parent: string, userId: string | undefined): Promise<readonly RemoteSession[]> {
    const filter = userId === undefined ? undefined : `user_id=${quote(userId)}`;
    return this.#readPages('list sessions', async ({ sessions }, pageToken) => {
      const { sessions: items, nextPageToken } = await sessions.listInternal({
        name: parent,
        config: { httpOptions, ...omitUndefined({ filter, pageToken }) },
      });
      return { items: (items ?? []).map(toRemoteSession), nextPageToken };
    });
  }

  /** Lists all events of a session, ordered by time. */
  async listEvents(name: string): Promise<readonly JsonObject[]> {
    return this.#readPages('read the events of a session', async ({ sessions }, pageToken) => {
      const { sessionEvents, nextPageToken } = await sessions.events.listInternal({
        name,
        config: { httpOptions, ...omitUndefined({ pageToken }) },
      });
      return { items: (sessionEvents ?? []).map(toJsonObject), nextPageToken };
    });
  }

  /** Appends an event. Releases of the API that refuse whole events get the members they know. */
  async append(name: string, { config, ...event }: AgentEngineEvent): Promise<void> {
    const append = async (members: JsonObject): Promise<unknown> =>
      this.#engine.call('append an event', async ({ sessions }) =>
        sessions.events.append({ name, ...event, config: { httpOptions, ...members } }),
      );
    try {
      await append(config);
    } catch (error) {
      const { rawEvent, ...members } = config;
      const isRefused = error instanceof VertexAiRequestError && error.status === 400;
      if (!isRefused || rawEvent === undefined) throw error;
      await append(members);
    }
  }

  /** Deletes a session. Does nothing if it does not exist. */
  async delete(name: string): Promise<void> {
    await undefinedIfGone(async () =>
      this.#engine.call('delete a session', async ({ sessions }) =>
        sessions.delete({ name, config: { httpOptions } }),
      ),
    );
  }

  async #readPages<T>(
    operation: string,
    read: (
      api: Parameters<Parameters<AgentEngine['call']>[1]>[0],
      pageToken: string | undefined,
    ) => Promise<{ readonly items: readonly T[]; readonly nextPageToken: string | undefined }>,
  ): Promise<readonly T[]> {
    const all: T[] = [];
    for (let pageToken: string | undefined; ;) {
      const page = await this.#engine.call(operation, async (api) => read(api, pageToken));
      for (const item of page.items) all.push(item);
      if (page.nextPageToken === undefined || page.nextPageToken === '') return all;
      pageToken = page.nextPageToken;
    }
  }
}

/** The last segment of a resource name. */
export function readId(name: unknown): string {
  return typeof name === 'string' ? name.slice(name.lastIndexOf('/') + 1) : '';
}

/** A string of a filter, as AIP-160 quotes it. */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function toRemoteSession(session: {
  readonly name?: string;
  readonly userId?: string;
  readonly sessionState?: unknown;
  readonly createTime?: string;
  readonly updateTime?: string;
}): RemoteSession {
  const { name, userId = '', sessionState, createTime = '', updateTime = createTime } = session;
  const updatedAt = Date.parse(updateTime);
  return {
    id: readId(name),
    userId,
    state: isJsonObject(sessionState) ? sessionState : {},
    createTime,
    updatedAt: Number.isNaN(updatedAt) ? 0 : updatedAt,
  };
}

function toJsonObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

async function undefinedIfGone<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (error instanceof VertexAiRequestError && error.status === 404) return undefined;
    throw error;
  }
}
