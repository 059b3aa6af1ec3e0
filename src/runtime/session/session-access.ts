import { assertInputSize } from '../../core/index.ts';
import { isClosedStatus } from '../../core/internal.ts';
import type { Json, Seq, SessionKey } from '../../core/index.ts';
import type { Agent } from '../../agents/index.ts';
import { checkInjection } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { SessionRow, StoredStatus } from '../../store/index.ts';
import { findLastTurn } from './find-turn.ts';
import type { HandleServices } from './handle-services.ts';
import { StatusControl } from './status-control.ts';

/** A session's position in its log, and its status there. */
export interface LogPosition {
  readonly from: Seq;
  /** True when a turn waits for an answer. */
  readonly wasWaiting: boolean;
  readonly status: StoredStatus;
}

/** A session as the parts of its handle see it: its agent, its row, its status, and the services of its runtime. */
export class SessionAccess {
  readonly key: SessionKey;
  readonly agent: Agent;
  readonly services: HandleServices;

  constructor(key: SessionKey, agent: Agent, services: HandleServices) {
    this.key = key;
    this.agent = agent;
    this.services = services;
  }

  get control(): StatusControl {
    return new StatusControl({ key: this.key, services: this.services });
  }

  /** Reads the session's row. @throws SessionNotFoundError */
  async readRow(): Promise<SessionRow> {
    const row = await this.services.readRow(this.key);
    if (row === undefined) throw new SessionNotFoundError(this.key, true);
    return row;
  }

  /** Checks a value for an input place. @throws InputTooLargeError, UnknownPlaceError, TokenSchemaError */
  validateInput(place: string, value: unknown): Json {
    assertInputSize(value, place, this.services.maxInputBytes);
    return checkInjection(this.agent.compiled, place, value);
  }

  async readLogPosition(): Promise<LogPosition> {
    const hosted = this.services.findHosted(this.key);
    // A session that another runtime has closed, or deleted and created again, is read from the store.
    if (hosted !== undefined && !isClosedStatus(hosted.status))
      return { from: hosted.lastSeq, wasWaiting: hosted.isWaiting, status: hosted.status };
    const { lastSeq: from, activity, status } = await this.control.readPosition();
    return { from, wasWaiting: activity === 'waiting', status };
  }

  /** Finds the invocation of the turn that runs or waits. Undefined when there is none. */
  async findRunningTurn(): Promise<string | undefined> {
    const { store, read, findHosted } = this.services;
    const row = await read(async () => store.find(this.key));
    // Only a session that a batch creates is missing and has a position.
    const { lastSeq, activity } = row ?? (await this.control.readPosition());
    const hosted = findHosted(this.key);
    // Trust the hosted session only if it is up to date: another runtime may have taken the session.
    if (hosted !== undefined && hosted.lastSeq >= lastSeq) return hosted.invocationId;
    if (activity === 'idle') return undefined;
    return findLastTurn(store, this.key, lastSeq);
  }
}
