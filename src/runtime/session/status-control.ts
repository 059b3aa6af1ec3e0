import { archiveIn, completeIn, pauseIn, resumeIn } from '../../agents/internal.ts';
import { isClosedStatus, isSessionStatus } from '../../core/internal.ts';
import { newMessageId, STATUS_TABLE } from '../../core/index.ts';
import type { LogEventType, Seq, SessionKey, SessionStatus } from '../../core/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { InputSeq, SessionRow, StoredStatus } from '../../store/index.ts';
import type { HandleServices, SessionPosition } from './handle-services.ts';
import { IllegalTransitionError } from './illegal-transition-error.ts';
import { RuntimeClosedError, SessionQuarantinedError } from './runtime-errors.ts';

/** A status change: the input that requests it, and the event that confirms it. */
interface StatusChange {
  readonly action: string;
  readonly place: TokenPlace<null>;
  readonly from: readonly SessionStatus[];
  readonly doneEvent: LogEventType;
}

/** The status changes that a caller can request. */
const STATUS_CHANGES: Readonly<Record<'pause' | 'resume' | 'complete' | 'archive', StatusChange>> =
  {
    pause: {
      action: 'a pause',
      place: pauseIn,
      from: listStatusesBefore('paused'),
      doneEvent: 'session.paused',
    },
    resume: {
      action: 'a resume',
      place: resumeIn,
      from: ['paused', 'failed'],
      doneEvent: 'session.resumed',
    },
    complete: {
      action: 'completing',
      place: completeIn,
      from: listStatusesBefore('completed'),
      doneEvent: 'session.completed',
    },
    archive: {
      action: 'archiving',
      place: archiveIn,
      from: listStatusesBefore('archived'),
      doneEvent: 'session.archived',
    },
  };

export interface StatusControlOptions {
  readonly key: SessionKey;
  readonly services: HandleServices;
}

/** Changes the status of a session, and refuses what its status does not allow. */
export class StatusControl {
  readonly #key: SessionKey;
  readonly #services: HandleServices;

  constructor({ key, services }: StatusControlOptions) {
    this.#key = key;
    this.#services = services;
  }

  /**
   * Requests a status change, and resolves when it has happened.
   * @throws IllegalTransitionError, RuntimeClosedError, SessionNotFoundError, SessionQuarantinedError
   */
  async change(to: keyof typeof STATUS_CHANGES): Promise<void> {
    const { action, place, from, doneEvent } = STATUS_CHANGES[to];
    const { readLog, submit } = this.#services;
    let lastSeq = 0;
    const { inputSeq } = await submit(async () => {
      const position = await this.readPosition();
      const status = this.#assertLoads(position.status);
      if (!from.includes(status)) throw this.#refusal(status, action);
      ({ lastSeq } = position);
      const input = { place: place.name, value: null };
      return { key: this.#key, input, dedupeKey: `signal:${place.name}:${newMessageId()}` };
    });
    for await (const event of readLog(this.#key, lastSeq, {})) {
      if (event.type === doneEvent) return;
      // A closed session refuses without an event.
      if (event.type === 'session.archived') throw this.#refusal('archived', action);
      if (event.type === 'session.completed' && to !== 'archive')
        throw this.#refusal('completed', action);
      if (event.type !== 'error' || event.code !== 'illegal_transition') continue;
      // A refused archiving has the same result as the one that is under way.
      if (to === 'archive' || (await this.#isUnread(inputSeq))) continue;
      const row = await this.#readCurrentRow();
      if (await this.#isLogged(doneEvent, event.seq, row.lastSeq)) return;
      // A session that still has its failure refused to continue that turn: the event says why.
      const reason = to === 'resume' && row.status === 'failed' ? event.message : undefined;
      throw this.#refusal(this.#assertLoads(row.status), action, reason);
    }
    throw new RuntimeClosedError();
  }

  /**
   * Refuses an input that the session's status does not allow, unless it repeats one that was accepted before. A
   * quarantined session keeps the input. Reads the store only if the status is not known here, or does not allow the
   * input.
   * @param isAllowed default: every status but the closed ones
   * @throws IllegalTransitionError
   */
  async assertStatus(
    action: string,
    dedupeKey: string | undefined,
    isAllowed: (status: SessionStatus) => boolean = isOpenStatus,
  ): Promise<void> {
    const hosted = this.#services.findHosted(this.#key);
    if (hosted !== undefined && isAllowed(hosted.status)) return;
    const { status } = await this.readPosition();
    await this.assertAllowed(status, action, dedupeKey, isAllowed);
  }

  /**
   * The same for a status that the caller has read.
   * @throws IllegalTransitionError
   */
  async assertAllowed(
    status: StoredStatus,
    action: string,
    dedupeKey: string | undefined,
    isAllowed: (status: SessionStatus) => boolean = isOpenStatus,
  ): Promise<void> {
    if (status === 'quarantined' || isAllowed(status)) return;
    if (dedupeKey !== undefined && (await this.isAccepted(dedupeKey))) return;
    throw this.#refusal(status, action);
  }

  /** True if the session has accepted an input under this key. */
  async isAccepted(dedupeKey: string): Promise<boolean> {
    const { read, store } = this.#services;
    try {
      return (await read(async () => store.findInput(this.#key, dedupeKey))) !== undefined;
    } catch (error) {
      // A session that a batch creates has no inputs yet.
      if (error instanceof SessionNotFoundError) return false;
      throw error;
    }
  }

  /** @throws SessionNotFoundError */
  async readPosition(): Promise<SessionPosition> {
    const position = await this.#services.readPosition(this.#key);
    if (position === undefined) throw new SessionNotFoundError(this.#key, true);
    return position;
  }

  /** Reads the row as it is now. A batch checks its inputs against the row that it found. */
  async #readCurrentRow(): Promise<SessionRow> {
    const { read, store } = this.#services;
    const row = await read(async () => store.find(this.#key));
    if (row === undefined) throw new SessionNotFoundError(this.#key, true);
    return row;
  }

  /** @throws SessionQuarantinedError for a session that no runtime loads */
  #assertLoads(status: StoredStatus): SessionStatus {
    if (status === 'quarantined') throw new SessionQuarantinedError(this.#key.sessionId);
    return status;
  }

  #refusal(status: SessionStatus, action: string, reason?: string): IllegalTransitionError {
    return new IllegalTransitionError(this.#key.sessionId, status, action, reason);
  }

  async #isUnread(inputSeq: InputSeq): Promise<boolean> {
    const [oldest] = await this.#services.store.inbox(this.#key, inputSeq - 1);
    return oldest?.inputSeq === inputSeq;
  }

  async #isLogged(type: LogEventType, after: Seq, upTo: Seq): Promise<boolean> {
    for await (const event of this.#services.store.read(this.#key, after)) {
      if (event.type === type) return true;
      if (event.seq >= upTo) break;
    }
    return false;
  }
}

function isOpenStatus(status: SessionStatus): boolean {
  return !isClosedStatus(status);
}

function listStatusesBefore(status: SessionStatus): readonly SessionStatus[] {
  return Object.keys(STATUS_TABLE)
    .filter(isSessionStatus)
    .filter((from) => STATUS_TABLE[from].includes(status));
}
