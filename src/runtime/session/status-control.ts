import { archiveIn, completeIn, pauseIn, resumeIn } from '../../agents/internal.ts';
import { isClosedStatus, isSessionStatus } from '../../core/internal.ts';
import { newMessageId, STATUS_TABLE } from '../../core/index.ts';
import type { LogEventType, Seq, SessionKey, SessionStatus } from '../../core/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { InputSeq, SessionRow, StoredStatus } from '../../store/index.ts';
import { findSeqBeforeFirst } from './find-turn.ts';
import type { HandleServices } from './handle-services.ts';
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
  /** Reads the session's row from the store. */
  readonly readRow: () => Promise<SessionRow>;
}

/** Changes the status of a session, and refuses what its status does not allow. */
export class StatusControl {
  readonly #key: SessionKey;
  readonly #services: HandleServices;
  readonly #readRow: () => Promise<SessionRow>;

  constructor({ key, services, readRow }: StatusControlOptions) {
    this.#key = key;
    this.#services = services;
    this.#readRow = readRow;
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
      const row = await this.#readRow();
      const status = this.#assertLoads(row.status);
      if (!from.includes(status)) throw this.#refusal(status, action);
      ({ lastSeq } = row);
      const input = { place: place.name, value: null };
      return { key: this.#key, input, dedupeKey: `signal:${place.name}:${newMessageId()}` };
    });
    for await (const event of readLog(this.#key, lastSeq, {})) {
      if (event.type === doneEvent) return;
      // An archived session refuses without an event.
      if (event.type === 'session.archived') throw this.#refusal('archived', action);
      if (event.type !== 'error' || event.code !== 'illegal_transition') continue;
      // A refused archiving has the same result as the one that is under way.
      if (to === 'archive' || (await this.#isUnread(inputSeq))) continue;
      const row = await this.#readCurrentRow();
      if (await this.#isLogged(doneEvent, event.seq, row.lastSeq)) return;
      throw this.#refusal(this.#assertLoads(row.status), action);
    }
    throw new RuntimeClosedError();
  }

  /**
   * Refuses an action that the session's status does not allow. A quarantined session keeps the input. Reads the store only if the status is not known here, or
   * does not allow the action.
   * @throws IllegalTransitionError
   */
  async assertStatus(action: string, isAllowed: (status: SessionStatus) => boolean): Promise<void> {
    const hosted = this.#services.findHosted(this.#key);
    if (hosted !== undefined && isAllowed(hosted.status)) return;
    const { status } = await this.#readRow();
    if (status !== 'quarantined' && !isAllowed(status)) throw this.#refusal(status, action);
  }

  /**
   * Refuses a message to a closed session, unless the session has already answered it.
   * @throws IllegalTransitionError
   */
  async assertTakesMessage(status: StoredStatus, message: unknown): Promise<void> {
    if (status === 'quarantined' || !isClosedStatus(status)) return;
    const sent = await findSeqBeforeFirst(this.#services.store, this.#key, message);
    if (sent === undefined) throw this.#refusal(status, 'sending a message');
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

  #refusal(status: SessionStatus, action: string): IllegalTransitionError {
    return new IllegalTransitionError(this.#key.sessionId, status, action);
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

function listStatusesBefore(status: SessionStatus): readonly SessionStatus[] {
  return Object.keys(STATUS_TABLE)
    .filter(isSessionStatus)
    .filter((from) => STATUS_TABLE[from].includes(status));
}
