import { checkAppendedEvent, eventIn, omitTempKeys } from '../../agents/internal.ts';
import type { AppendedEvent } from '../../agents/internal.ts';
import { isClosedStatus, omitUndefined } from '../../core/internal.ts';
import {
  InvalidInputError,
  newSessionId,
  parseSessionKey,
  toAdkSeconds,
  validateStateDelta,
} from '../../core/index.ts';
import type { Event, Json, JsonObject, SessionKey } from '../../core/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { checkSessionId, SessionNotFoundError } from '../../store/internal.ts';
import type { DocumentChange, SessionRow, Store } from '../../store/index.ts';
import { IllegalTransitionError } from '../../runtime/index.ts';
import { deleteMemoryCursor } from '../../runtime/internal.ts';
import { deleteMetadata } from './invocation-metadata.ts';
import { readSession, readState } from './read-session.ts';
import { DetachedSessions } from './detached-sessions.ts';
import type { GetSessionConfig, Session } from './session.ts';
import { SessionExistsError, StaleSessionError } from './session-errors.ts';
import type { CreateSessionRequest, SessionAddress, SessionService } from './session-service.ts';
import { StoredSession } from './stored-session.ts';

/** An event that was appended elsewhere, or a change of state alone. */
export interface ImportedEvent extends AppendedEvent {
  readonly dedupeKey: string;
}

/** Session service over any store: each session is a journal, and its events come from the log. */
export class StoreSessionService implements SessionService {
  readonly #openStore: () => Promise<Store>;
  readonly #clock: Clock;
  #opened: Promise<{ readonly store: Store; readonly detached: DetachedSessions }> | undefined;

  /** @param open is called once, when the store is first needed */
  constructor(open: () => Promise<Store>, clock: Clock = systemClock) {
    this.#openStore = open;
    this.#clock = clock;
  }

  async createSession(request: CreateSessionRequest): Promise<Session>;
  async createSession(
    appName: string,
    userId: string,
    state?: JsonObject,
    sessionId?: string,
  ): Promise<Session>;
  async createSession(
    request: CreateSessionRequest | string,
    owner?: string,
    entries?: JsonObject,
    id?: string,
  ): Promise<Session> {
    const {
      appName,
      userId,
      sessionId = newSessionId(),
      state = {},
    } = typeof request === 'string'
      ? { appName: request, userId: owner, sessionId: id, state: entries }
      : request;
    const key = parseSessionKey({ appName, userId, sessionId });
    checkSessionId(sessionId);
    const stateDelta = omitTempKeys(validateStateDelta(state));
    const { store, detached } = await this.#open();
    const { row, created } = await detached.create(key);
    if (!created) throw new SessionExistsError(sessionId);
    if (Object.keys(stateDelta).length > 0) {
      await store.inject(
        key,
        { place: eventIn.name, value: { stateDelta } },
        `signal:${eventIn.name}:begin:${row.uid}`,
      );
      await detached.drive(key);
    }
    return this.#read(await findRow(store, key), {});
  }

  async getSession(
    request: SessionAddress & { readonly config?: GetSessionConfig },
  ): Promise<Session | undefined> {
    const { store } = await this.#open();
    const row = await store.find(parseSessionKey(request));
    return row === undefined ? undefined : this.#read(row, request.config ?? {});
  }

  async listSessions(request: {
    readonly appName: string;
    readonly userId?: string;
  }): Promise<{ readonly sessions: readonly Session[] }> {
    const { store } = await this.#open();
    const { appName, userId } = request;
    const rows = await store.list({
      appName,
      parent: null,
      ...omitUndefined({ userId }),
    });
    const sessions: Session[] = [];
    for (const row of rows) {
      const { key, uid, lastSeq: position, updatedAt } = row;
      const state = await readState(store, row);
      const lastUpdateTime = toAdkSeconds(updatedAt);
      sessions.push(new StoredSession({ key, uid, state, events: [], lastUpdateTime, position }));
    }
    return { sessions };
  }

  async deleteSession(request: SessionAddress): Promise<void> {
    const { store } = await this.#open();
    const key = parseSessionKey(request);
    const row = await store.find(key);
    if (row === undefined) return;
    await store.delete(key);
    // These documents are keyed by the uid of this incarnation.
    await deleteMetadata(store, row.uid);
    await deleteMemoryCursor(store, row.uid);
  }

  async appendEvent({
    session,
    event,
  }: {
    readonly session: Session;
    readonly event: Event;
  }): Promise<Event> {
    if (event.partial === true) return event;
    if (!(session instanceof StoredSession))
      throw new InvalidInputError('session', 'must be the result of createSession or getSession.');
    const { event: stored, stateDelta } = checkAppendedEvent(event);
    await session.runExclusive(async () => {
      await this.#append(session, stored);
      session.applyAppended(stored, stateDelta);
    });
    return stored;
  }

  async store(): Promise<Store> {
    return (await this.#open()).store;
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    const { store, detached } = await opened;
    await detached.close();
    await store.close();
  }

  /**
   * Creates the session if it does not exist, and appends events in order, in one transaction with the documents. An
   * event whose dedupe key was used before in the session is left out. Returns false if a document has another version;
   * nothing is then written.
   */
  protected async importEvents(
    key: SessionKey,
    events: readonly ImportedEvent[],
    documents: readonly DocumentChange[],
  ): Promise<boolean> {
    const { store, detached } = await this.#open();
    const { ok } = await store.submit({
      documents,
      sessions: [{ key, init: detached.initialValues(key) }],
      inputs: events.map(({ dedupeKey, ...appended }) => ({
        key,
        input: { place: eventIn.name, value: omitUndefined(appended) },
        dedupeKey,
      })),
    });
    if (ok) await detached.drive(key);
    return ok;
  }

  async #open(): Promise<{ readonly store: Store; readonly detached: DetachedSessions }> {
    this.#opened ??= this.#openStore().then(async (store) => ({
      store,
      detached: await DetachedSessions.open(store, this.#clock),
    }));
    return this.#opened;
  }

  async #read(row: SessionRow, config: GetSessionConfig): Promise<Session> {
    return readSession(await this.store(), row, config);
  }

  async #append({ key, uid, position, id }: StoredSession, event: Event): Promise<void> {
    const { store, detached } = await this.#open();
    const row = await store.find(key);
    if (row === undefined) throw new SessionNotFoundError(key, true);
    if (row.status !== 'quarantined' && isClosedStatus(row.status))
      throw new IllegalTransitionError(key.sessionId, row.status, 'appending an event');
    const { position: currentPosition } = await readSession(store, row, { numRecentEvents: 0 });
    if (row.uid !== uid || currentPosition !== position) throw new StaleSessionError(id);
    // Of all callers that read the session at this position, in any process, one gets the key. The others get a
    // StaleSessionError.
    const { duplicate } = await store.inject(
      key,
      { place: eventIn.name, value: toAppendedEvent(event) },
      `signal:${eventIn.name}:${uid}:${position}`,
    );
    if (duplicate) throw new StaleSessionError(id);
    await detached.drive(key);
  }
}

async function findRow(store: Store, key: SessionKey): Promise<SessionRow> {
  const row = await store.find(key);
  if (row === undefined) throw new SessionNotFoundError(key, true);
  return row;
}

function toAppendedEvent(event: Event): Json {
  return { event, stateDelta: event.actions.stateDelta };
}
