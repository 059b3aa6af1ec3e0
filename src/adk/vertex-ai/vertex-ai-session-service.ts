import {
  InvalidInputError,
  optionTable,
  parseIdentity,
  parseSessionKey,
  validateStateDelta,
} from '../../core/index.ts';
import type { Event, JsonObject, OptionTable, SessionKey } from '../../core/index.ts';
import { checkDefinition } from '../../core/internal.ts';
import { omitTempKeys } from '../../agents/internal.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { openStore, parseStoreUrl, SessionNotFoundError } from '../../store/internal.ts';
import { SessionExistsError } from '../sessions/session-errors.ts';
import type { CreateSessionRequest, SessionAddress } from '../sessions/session-service.ts';
import type { GetSessionConfig, Session } from '../sessions/session.ts';
import { StoreSessionService } from '../sessions/store-session-service.ts';
import { AgentEngine } from './agent-engine.ts';
import type { AgentEngineOptions } from './agent-engine.ts';
import { AgentEngineSessions } from './agent-engine-sessions.ts';
import type { NewRemoteSession, RemoteSession } from './agent-engine-sessions.ts';
import { SessionMirror } from './session-mirror.ts';
import { VertexAiRequestError, VertexAiSyncPendingError } from './vertex-ai-errors.ts';

/** Options of `VertexAiSessionService`: the Agent Engine, and where the journals of its sessions are kept. */
export interface VertexAiSessionOptions extends AgentEngineOptions {
  /**
   * URL of the store of the journals, as for `DatabaseSessionService`. Default: `memory:`. A turn that a crash interrupts
   * and a call that waits for an answer continue in another process only with a store that outlives the process.
   */
  readonly store?: string;
  readonly clock?: Clock;
}

/** The options of `VertexAiSessionService`. */
export const VERTEX_AI_SESSION_OPTIONS: OptionTable = optionTable<VertexAiSessionOptions>(
  'VertexAiSessionService',
  {
    projectId: true,
    location: true,
    agentEngineId: true,
    apiEndpoint: true,
    client: true,
    store: true,
    clock: true,
  },
  { project: 'projectId', sessions: 'client', expressModeApiKey: 'client' },
);

/** A session to create in Vertex AI. */
export interface VertexAiCreateSessionRequest extends CreateSessionRequest {
  /** Lifetime of the session in Vertex AI, in seconds, such as `7200s`. Excludes `expireTime`. */
  readonly ttl?: string;
  /** When the session expires in Vertex AI, such as `2030-01-31T00:00:00Z`. Excludes `ttl`. */
  readonly expireTime?: string;
}

/**
 * Keeps sessions in Agent Engine of Vertex AI, where other ADK programs read and continue them: their events and their
 * state. The journal, which Agent Engine has no place for, is in a store. Whenever a session is read, appended to or run,
 * the two exchange what only one of them has. An event is appended to Agent Engine once, also after a crash.
 *
 * A session that only Agent Engine has is imported by its first use. A session that Agent Engine no longer has does not
 * exist here either. Methods reject with `VertexAiRequestError` if a request fails and with `MissingVertexAiPackageError`
 * if the client, the optional peer `@google-cloud/vertexai`, is not installed.
 *
 * Like ADK, `listSessions` returns all sessions of the Agent Engine, whatever the app name. State of the user and of the
 * app is shared by the sessions of one store, and not through Agent Engine.
 * @throws InvalidInputError, UnknownFieldError if the options are invalid
 * @throws UnsupportedStoreUrlError if `store` names an unknown kind of store
 * @example
 * const sessionService = new VertexAiSessionService({
 *   projectId: 'my-project',
 *   location: 'us-central1',
 *   agentEngineId: '456',
 *   store: 'sqlite:journals.db',
 * });
 */
export class VertexAiSessionService extends StoreSessionService {
  readonly #engine: AgentEngine;
  readonly #sessions: AgentEngineSessions;
  readonly #mirror: SessionMirror;

  constructor(options: VertexAiSessionOptions) {
    checkDefinition(VERTEX_AI_SESSION_OPTIONS, options);
    const { store = 'memory:', clock = systemClock, ...engine } = options;
    parseStoreUrl(store);
    super(async () => openStore(store), clock);
    this.#engine = new AgentEngine(engine);
    this.#sessions = new AgentEngineSessions(this.#engine);
    this.#mirror = new SessionMirror({
      sessions: this.#sessions,
      clock,
      openStore: async () => this.store(),
      importEvents: async (...events) => this.importEvents(...events),
      deleteSession: async (key) => super.deleteSession(key),
    });
  }

  /**
   * Creates a session in Agent Engine, which also makes its id if none is given.
   * @throws SessionExistsError if the session id is taken, also by another user
   * @throws InvalidInputError if the address is invalid, or if both `ttl` and `expireTime` are given
   * @throws InvalidStateKeyError if a state key is invalid
   */
  override async createSession(request: VertexAiCreateSessionRequest): Promise<Session>;
  override async createSession(
    appName: string,
    userId: string,
    state?: JsonObject,
    sessionId?: string,
  ): Promise<Session>;
  override async createSession(
    request: VertexAiCreateSessionRequest | string,
    owner = '',
    entries: JsonObject = {},
    id?: string,
  ): Promise<Session> {
    const wanted: Omit<VertexAiCreateSessionRequest, 'sessionId'> & {
      sessionId?: string | undefined;
    } =
      typeof request === 'string'
        ? { appName: request, userId: owner, state: entries, sessionId: id }
        : request;
    const { state = {}, sessionId, ttl, expireTime } = wanted;
    const appName = parseIdentity(wanted.appName, 'appName');
    const userId = parseIdentity(wanted.userId, 'userId');
    if (sessionId !== undefined) checkId(sessionId);
    if (ttl !== undefined && expireTime !== undefined)
      throw new InvalidInputError('expireTime', 'excludes ttl: pass one of the two.');
    const parent = this.#engine.resourceName(appName);
    const initial = omitTempKeys(validateStateDelta(state));
    if (sessionId !== undefined) await this.#checkIsFree({ appName, userId, sessionId });
    const remote = await this.#create(parent, {
      userId,
      sessionId,
      sessionState: Object.keys(initial).length > 0 ? initial : undefined,
      ttl,
      expireTime,
    });
    const key = parseSessionKey({ appName, userId, sessionId: remote.id });
    await this.#mirror.exchange(this.#resourceName(key), key, remote, initial);
    const created = await super.getSession(key);
    if (created === undefined) throw new SessionNotFoundError(key, true);
    return created;
  }

  override async getSession(
    request: SessionAddress & { readonly config?: GetSessionConfig },
  ): Promise<Session | undefined> {
    return (await this.sync(request)) ? super.getSession(request) : undefined;
  }

  override async listSessions({
    appName,
    userId,
  }: {
    readonly appName: string;
    readonly userId?: string;
  }): Promise<{ readonly sessions: readonly Session[] }> {
    const found = await this.#sessions.list(this.#engine.resourceName(appName), userId);
    return {
      sessions: found
        .toSorted((a, b) => b.updatedAt - a.updatedAt)
        .map((remote) => ({
          id: remote.id,
          appName,
          userId: remote.userId,
          state: remote.state,
          events: [],
          lastUpdateTime: remote.updatedAt / 1000,
        })),
    };
  }

  /** Deletes a session in Agent Engine and in the store. A session of another user is not deleted. */
  override async deleteSession(request: SessionAddress): Promise<void> {
    const key = parseSessionKey(request);
    const name = this.#resourceName(key);
    const remote = await this.#sessions.get(name);
    if (remote !== undefined && remote.userId !== key.userId) return;
    if (remote !== undefined) await this.#sessions.delete(name);
    if (!(await this.#mirror.isBound(name, key))) return;
    await super.deleteSession(key);
    await this.#mirror.unbind(name, key);
  }

  /**
   * Appends an event to the session in the store, then to Agent Engine.
   * @throws StaleSessionError if the session in the store changed since it was read
   * @throws SessionNotFoundError if the session does not exist
   * @throws InvalidStateKeyError if a state key is invalid
   * @throws VertexAiSyncPendingError if the event is stored and Agent Engine does not have it yet
   */
  override async appendEvent(request: {
    readonly session: Session;
    readonly event: Event;
  }): Promise<Event> {
    const stored = await super.appendEvent(request);
    if (stored.partial === true) return stored;
    const { appName, userId, id } = request.session;
    try {
      await this.sync({ appName, userId, sessionId: id });
    } catch (cause) {
      throw new VertexAiSyncPendingError(id, { cause });
    }
    return stored;
  }

  /**
   * Exchanges the events that only the store or only Agent Engine has. Every other method that takes a session does this,
   * and so does a Runner before and after each run. Returns false if Agent Engine has no such session of this user.
   * @throws VertexAiRequestError if a request fails. What was exchanged before is kept
   * @throws InvalidInputError if the address is invalid, or names a session of the store that is not kept in Vertex AI
   */
  async sync(address: SessionAddress): Promise<boolean> {
    const key = parseSessionKey(address);
    const name = this.#resourceName(key);
    const remote = await this.#sessions.get(name);
    if (remote === undefined || remote.userId !== key.userId) return false;
    await this.#mirror.exchange(name, key, remote);
    return true;
  }

  async #create(parent: string, session: NewRemoteSession): Promise<RemoteSession> {
    try {
      return await this.#sessions.create(parent, session);
    } catch (error) {
      const { sessionId } = session;
      if (error instanceof VertexAiRequestError && error.status === 409 && sessionId !== undefined)
        throw new SessionExistsError(sessionId);
      throw error;
    }
  }

  /** A session that is in the store only must not be replaced by the one that is created. */
  async #checkIsFree(key: SessionKey): Promise<void> {
    const store = await this.store();
    if ((await store.find(key)) === undefined) return;
    if (!(await this.#mirror.isBound(this.#resourceName(key), key)))
      throw new SessionExistsError(key.sessionId);
  }

  #resourceName({ appName, sessionId }: SessionKey): string {
    checkId(sessionId);
    return `${this.#engine.resourceName(appName)}/sessions/${sessionId}`;
  }
}

/** The id is a part of URLs. */
function checkId(sessionId: string): void {
  if (!/^[A-Za-z0-9][\w-]{0,127}$/.test(sessionId))
    throw new InvalidInputError(
      'sessionId',
      `is ${JSON.stringify(sessionId.slice(0, 50))}, which Vertex AI has no session for: use up to 128 letters, digits, "-" and "_", and begin with a letter or digit.`,
    );
}
