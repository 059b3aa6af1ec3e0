import {
  formatSessionKey,
  getStateScope,
  InvalidInputError,
  isJsonObject,
  sha256Hex,
  validateStateDelta,
} from '../../core/index.ts';
import type { Event, Json, JsonObject, SessionKey } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentChange, SessionRow, Store } from '../../store/index.ts';
import { readSession } from '../sessions/read-session.ts';
import type { ImportedEvent } from '../sessions/store-session-service.ts';
import {
  fromAgentEngineEvent,
  isPartialEvent,
  readEventId,
  toAgentEngineEvent,
} from './agent-engine-event.ts';
import type { AgentEngineSessions, RemoteSession } from './agent-engine-sessions.ts';
import { hideFromModels } from './hide-from-models.ts';
import type { ImportedSessionEvent } from './hide-from-models.ts';

/** The kind of the documents that bind sessions of the store to those of Agent Engine. */
const KIND = 'adk.vertex-ai';
/** A sender that has not renewed its claim for this long is dead. Longer than two requests may take. */
const CLAIM_MS = 120_000;

/** The value of a document that binds a session. */
interface Binding {
  /** When Agent Engine created the session. */
  readonly createTime: string;
  /** Who sends events of the session, so that no other process sends the same ones. */
  readonly sender?: { readonly id: string; readonly until: number };
}

interface StoredBinding extends Binding {
  readonly version: number;
}

/** What a mirror needs of its session service. */
export interface MirrorServices {
  readonly sessions: AgentEngineSessions;
  readonly clock: Clock;
  readonly openStore: () => Promise<Store>;
  readonly importEvents: (
    key: SessionKey,
    events: readonly ImportedEvent[],
    documents: readonly DocumentChange[],
  ) => Promise<boolean>;
  readonly deleteSession: (key: SessionKey) => Promise<void>;
}

/**
 * Keeps the sessions of a store and those of Agent Engine equal: each gets the events that only the other has. Both sides
 * are compared by the ids of events, so it does not matter after which step a process died. One process at a time sends
 * the events of a session.
 */
export class SessionMirror {
  readonly #services: MirrorServices;
  readonly #sender: string = crypto.randomUUID();
  /** The last exchange of each session in this process, by binding. */
  readonly #exchanges = new Map<string, Promise<unknown>>();

  constructor(services: MirrorServices) {
    this.#services = services;
  }

  /** True if the session of the store was made from one of Agent Engine, or for one. */
  async isBound(name: string, key: SessionKey): Promise<boolean> {
    return (await this.#readBinding(toBindingId(name, key))) !== undefined;
  }

  async unbind(name: string, key: SessionKey): Promise<void> {
    const id = toBindingId(name, key);
    const binding = await this.#readBinding(id);
    if (binding === undefined) return;
    const store = await this.#services.openStore();
    await store.writeDocuments([{ kind: KIND, id, version: binding.version }]);
  }

  /**
   * Exchanges events with a session of Agent Engine. The session of the store is created if it does not exist.
   * @param name resource name of the session
   * @param initial the state of a session that is new at Agent Engine
   * @throws VertexAiRequestError if a request fails. What was exchanged before is kept
   * @throws InvalidInputError if the store has a session of this key that is not bound to Agent Engine
   */
  async exchange(
    name: string,
    key: SessionKey,
    remote: RemoteSession,
    initial?: JsonObject,
  ): Promise<void> {
    const id = toBindingId(name, key);
    const exchange = async (): Promise<void> => this.#exchange(name, key, id, remote, initial);
    const last = (this.#exchanges.get(id) ?? Promise.resolve()).then(exchange, exchange);
    this.#exchanges.set(id, last);
    try {
      await last;
    } finally {
      if (this.#exchanges.get(id) === last) this.#exchanges.delete(id);
    }
  }

  async #exchange(
    name: string,
    key: SessionKey,
    id: string,
    remote: RemoteSession,
    initial: JsonObject | undefined,
  ): Promise<void> {
    const { sessions, openStore, importEvents, deleteSession } = this.#services;
    const store = await openStore();
    const binding = await this.#readBinding(id);
    let row = await store.find(key);
    if (row !== undefined && binding === undefined)
      throw new InvalidInputError(
        'sessionId',
        `"${key.sessionId}" is also a session of the store that is not kept in Vertex AI: use another store, or another session id.`,
      );
    if (row !== undefined && binding?.createTime !== remote.createTime) {
      // The session was deleted at Agent Engine and created again.
      await deleteSession(key);
      row = undefined;
    }
    // Read before the events of the store: an event that is sent in between is then in both.
    const remoteEvents = (await sessions.listEvents(name)).filter((one) => !isPartialEvent(one));
    if (row === undefined) {
      const events = await this.#toNewSession(key, remote, remoteEvents, initial);
      const value: Json = { createTime: remote.createTime };
      // When another process has imported the session meanwhile, that session is the same.
      await importEvents(key, events, [{ kind: KIND, id, version: binding?.version ?? 0, value }]);
      return;
    }
    const known = new Set((await readEvents(store, row)).map((event) => event.id));
    const foreign = remoteEvents.filter((one) => !known.has(readEventId(one)));
    if (foreign.length > 0)
      await importEvents(key, hideFromModels(foreign.map(toImportedEvent)), []);
    const sent = new Set(remoteEvents.map(readEventId));
    if (binding !== undefined) await this.#send(name, row, id, binding, sent);
  }

  /** The events of a session that the store does not have yet, and the state that they led to. */
  async #toNewSession(
    key: SessionKey,
    remote: RemoteSession,
    remoteEvents: readonly JsonObject[],
    initial: JsonObject | undefined,
  ): Promise<readonly ImportedEvent[]> {
    const store = await this.#services.openStore();
    // State of the user and of the app may have changed in other sessions since.
    const { entries } = await store.shared(key);
    const stateDelta =
      initial ??
      Object.fromEntries(
        Object.entries(validateStateDelta(remote.state)).filter(
          ([name]) => getStateScope(name) === 'session' || !Object.hasOwn(entries, name),
        ),
      );
    const imported = remoteEvents.map(toImportedEvent);
    return [
      ...hideFromModels(imported).map((one) => ({ ...one, stateDelta: {} })),
      ...(Object.keys(stateDelta).length > 0
        ? [{ stateDelta, dedupeKey: `vertex-ai:state:${remote.createTime}` }]
        : []),
    ];
  }

  /** Sends the events that Agent Engine does not have, unless another process does. */
  async #send(
    name: string,
    row: SessionRow,
    id: string,
    binding: StoredBinding,
    sent: Set<string>,
  ): Promise<void> {
    const { sessions, openStore, clock } = this.#services;
    const store = await openStore();
    const findUnsent = async (): Promise<readonly Event[]> =>
      (await readEvents(store, row)).filter((event) => !sent.has(event.id));
    let unsent = await findUnsent();
    const { sender } = binding;
    const isBusy = sender !== undefined && sender.id !== this.#sender && sender.until > clock.now();
    if (unsent.length === 0 || isBusy) return;
    // The version is from before the events were listed, so no other process has sent any since.
    let claim = await this.#claim(id, binding);
    try {
      while (unsent.length > 0 && claim !== undefined) {
        for (const event of unsent) {
          if ((claim.sender?.until ?? 0) - clock.now() < CLAIM_MS / 2)
            claim = await this.#claim(id, claim);
          if (claim === undefined) return;
          await sessions.append(name, toAgentEngineEvent(event));
          sent.add(event.id);
        }
        unsent = await findUnsent();
      }
    } finally {
      if (claim !== undefined) {
        const { version, createTime } = claim;
        await store.writeDocuments([{ kind: KIND, id, version, value: { createTime } }]);
      }
    }
  }

  async #claim(id: string, binding: StoredBinding): Promise<StoredBinding | undefined> {
    const store = await this.#services.openStore();
    const { version, createTime } = binding;
    const sender = { id: this.#sender, until: this.#services.clock.now() + CLAIM_MS };
    const value = { createTime, sender };
    const { ok } = await store.writeDocuments([{ kind: KIND, id, version, value }]);
    return ok ? { ...value, version: version + 1 } : undefined;
  }

  async #readBinding(id: string): Promise<StoredBinding | undefined> {
    const store = await this.#services.openStore();
    const found = await store.document(KIND, id);
    if (found === undefined || !isJsonObject(found.value)) return undefined;
    const { createTime, sender } = found.value;
    const { id: senderId, until } = isJsonObject(sender) ? sender : {};
    return {
      createTime: typeof createTime === 'string' ? createTime : '',
      version: found.version,
      ...omitUndefined({
        sender:
          typeof senderId === 'string' && typeof until === 'number'
            ? { id: senderId, until }
            : undefined,
      }),
    };
  }
}

// The parts of a key can be longer than the id of a document.
function toBindingId(name: string, key: SessionKey): string {
  return sha256Hex(`${name} ${formatSessionKey(key)}`);
}

async function readEvents(store: Store, row: SessionRow): Promise<readonly Event[]> {
  return (await readSession(store, row, {})).events;
}

function toImportedEvent(remote: JsonObject): ImportedSessionEvent {
  const event = fromAgentEngineEvent(remote);
  const { stateDelta } = event.actions;
  return { event, stateDelta, dedupeKey: `vertex-ai:event:${event.id}` };
}
