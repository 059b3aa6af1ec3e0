import { calledAgentWaits } from '../../core/index.ts';
import type { LogEvent, LogEventByType, PartialEvent, Seq } from '../../core/index.ts';
import type { SessionDeleted } from '../../managed/index.ts';
import type { Wire } from './component.ts';
import { callKey, turnMessageKey } from './event-keys.ts';
import { projectEvent } from './project-event.ts';
import type { LogIndex, ProjectedEvent } from './project-event.ts';
import { wireEventId } from './wire-event.ts';
import type { WireEvent } from './wire-event.ts';
import { toWireTime } from './wire-schemas.ts';

type IdentifiedEvent = ProjectedEvent & {
  readonly id: string;
  /** The id that an earlier version of the server used. It is still valid as a cursor. */
  readonly legacyId: string | undefined;
};

export interface EventProjectionOptions {
  readonly sessionId: string;
  readonly sessionUid: string;
  /** Reads the log after a number, to its end. */
  readonly read: (from: Seq) => AsyncIterable<LogEvent>;
}

/** Part of an event that is being generated. It is not stored and has no id of its own. */
export type WirePreview = Wire<'Preview'>;

/** Which parts of unfinished events one reader has received. */
export class PreviewState {
  /** The firing whose parts are shown now, and the event types that were started for it. */
  firingId = '';
  types: Set<string> = new Set<string>();
  /** Firings whose further parts are not shown, because they do not continue the parts that were shown. */
  readonly invalidFirings: Set<string> = new Set<string>();
}

/** Position of an event: the number of its log entry, and its index among the events of that entry. */
export interface EventPosition {
  readonly seq: Seq;
  readonly index: number;
}

/**
 * Shows a log in the format of the HTTP API and finds events by their ids. Which call a result belongs to, the index of
 * a message in its turn, and the position of an id depend on earlier entries. The projection therefore indexes the log
 * once, and later only new entries.
 */
export class EventProjection {
  readonly #uid: string;
  readonly #read: (from: Seq) => AsyncIterable<LogEvent>;
  readonly #calls = new Map<string, LogEventByType<'tool.call'>>();
  /** Calls of tools of called agents, with the number of the entry that showed each first. */
  readonly #calledAgentCalls = new Map<string, Seq>();
  readonly #messageCounts = new Map<string, number>();
  /** By log entry: how many messages of the same turn precede it. The entry may be projected again. */
  readonly #messageIndexes = new Map<Seq, number>();
  /** Call id by the id of the event that showed the call. */
  readonly #callIdsByEventId = new Map<string, string>();
  readonly #seqsByEventId = new Map<string, Seq>();
  /** By invocation: the first entry that records its interruption. */
  readonly #interrupts = new Map<string, Seq>();
  readonly #logIndex: LogIndex;
  #indexedSeq: Seq = 0;

  constructor({ sessionId, sessionUid, read }: EventProjectionOptions) {
    this.#uid = sessionUid;
    this.#read = read;
    this.#logIndex = {
      sessionId,
      eventId: (key) => this.#eventId(key),
      calls: this.#calls,
      calledAgentCalls: this.#calledAgentCalls,
      messageIndexes: this.#messageIndexes,
      interrupts: this.#interrupts,
    };
  }

  /** Number of event ids in memory. */
  get size(): number {
    return this.#seqsByEventId.size;
  }

  /** The events that show a log entry: none, one, or several in order. */
  async project(event: LogEvent | SessionDeleted): Promise<readonly WireEvent[]> {
    if (event.type === 'session.deleted') {
      const id = wireEventId(this.#uid, 'deleted');
      return [{ id, type: 'session.deleted', seq: event.seq }];
    }
    await this.#indexUpTo(event.seq - 1);
    this.#index(event);
    const { seq, at } = event;
    return this.#projectWithIds(event).map(
      ({ id, type, fields }) =>
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ProjectedEvent pairs each type with its fields
        ({ id, type, seq, processed_at: toWireTime(at), ...fields }) as WireEvent,
    );
  }

  /** The previews for a partial event: what it adds to the event that is being generated. */
  async preview(
    event: PartialEvent,
    after: Seq,
    state: PreviewState,
  ): Promise<readonly WirePreview[]> {
    if (event.type === 'partial.reset') {
      // Parts of the failed attempt cannot be withdrawn. The complete event follows with the right content.
      state.invalidFirings.add(event.firingId);
      return [];
    }
    if (event.kind === 'progress' || state.invalidFirings.has(event.firingId)) return [];
    await this.#indexUpTo(after);
    const type = event.kind === 'text' ? 'agent.message' : 'agent.thinking';
    const id = this.#eventId(
      turnMessageKey(type, event.invocationId, this.#messageCounts.get(event.invocationId)),
    );
    if (state.firingId !== event.firingId) {
      state.firingId = event.firingId;
      state.types = new Set();
    }
    const isNew = !state.types.has(type);
    state.types.add(type);
    const start: WirePreview = { type: 'event_start', event: { type, id } };
    if (type === 'agent.thinking') return isNew ? [start] : [];
    const content = { type: 'text', text: event.text } as const;
    const delta: WirePreview = {
      type: 'event_delta',
      event_id: id,
      delta: { type: 'content_delta', index: 0, content },
    };
    return isNew ? [start, delta] : [delta];
  }

  /**
   * Finds a call by its own id, or by the id of the event that showed it. Returns undefined if this log has no such
   * call.
   */
  async resolveCallId(id: string): Promise<string | undefined> {
    const indexed = this.#calls.has(id) ? id : this.#callIdsByEventId.get(id);
    if (indexed !== undefined) return indexed;
    await this.#indexUpTo(Infinity);
    return this.#calls.has(id) || this.#calledAgentCalls.has(id)
      ? id
      : this.#callIdsByEventId.get(id);
  }

  /** The log entry of a call, found by call id or event id. */
  async findCall(callId: string): Promise<LogEventByType<'tool.call'> | undefined> {
    const id = await this.resolveCallId(callId);
    return id === undefined ? undefined : this.#calls.get(id);
  }

  /** The position of an event; undefined if it is not in this log. */
  async findPosition(id: string): Promise<EventPosition | undefined> {
    if (!this.#seqsByEventId.has(id)) await this.#indexUpTo(Infinity);
    const seq = this.#seqsByEventId.get(id);
    if (seq === undefined) return undefined;
    for await (const event of this.#read(seq - 1)) {
      const index = this.#projectWithIds(event).findIndex(
        (projected) => projected.id === id || projected.legacyId === id,
      );
      return index < 0 ? undefined : { seq, index };
    }
    return undefined;
  }

  async #indexUpTo(seq: Seq): Promise<void> {
    if (this.#indexedSeq >= seq) return;
    for await (const event of this.#read(this.#indexedSeq)) {
      if (event.seq > seq) return;
      this.#index(event);
    }
  }

  #index(event: LogEvent): void {
    if (event.seq <= this.#indexedSeq) return;
    this.#indexedSeq = event.seq;
    if (event.type === 'tool.call') {
      this.#calls.set(event.callId, event);
      this.#callIdsByEventId.set(this.#eventId(callKey(event.callId)), event.callId);
    }
    if (event.type === 'tool.pending')
      for (const { callId } of calledAgentWaits(event.request) ?? []) {
        if (this.#calledAgentCalls.has(callId)) continue;
        this.#calledAgentCalls.set(callId, event.seq);
        this.#callIdsByEventId.set(this.#eventId(callKey(callId)), callId);
      }
    if (event.type === 'agent.message') {
      const before = this.#messageCounts.get(event.invocationId) ?? 0;
      this.#messageIndexes.set(event.seq, before);
      this.#messageCounts.set(event.invocationId, before + 1);
    }
    if (event.type === 'turn.ended' && event.stopReason === 'interrupted') {
      const { invocationId } = event;
      if (!this.#interrupts.has(invocationId)) this.#interrupts.set(invocationId, event.seq);
    }
    for (const { id, legacyId } of this.#projectWithIds(event)) {
      if (!this.#seqsByEventId.has(id)) this.#seqsByEventId.set(id, event.seq);
      if (legacyId !== undefined) this.#seqsByEventId.set(legacyId, event.seq);
    }
  }

  #projectWithIds(event: LogEvent): readonly IdentifiedEvent[] {
    return this.#projectReadable(event).map((projected, index) => {
      const ownKey = `seq:${event.seq}${index === 0 ? '' : `.${index}`}`;
      return {
        ...projected,
        id: this.#eventId(projected.key ?? ownKey),
        legacyId: projected.type === 'user.interrupt' ? this.#eventId(ownKey) : undefined,
      };
    });
  }

  /** An entry that does not have the members of its type is shown as one that cannot be read. */
  #projectReadable(event: LogEvent): readonly ProjectedEvent[] {
    try {
      return projectEvent(event, this.#logIndex);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      return [
        {
          type: 'session.error',
          fields: {
            error: {
              type: 'unknown_error',
              message: `Entry ${event.seq} of the log is of a form that this release cannot read.`,
              retry_status: { type: 'terminal' },
            },
          },
        },
      ];
    }
  }

  #eventId(key: string): string {
    return wireEventId(this.#uid, key);
  }
}
