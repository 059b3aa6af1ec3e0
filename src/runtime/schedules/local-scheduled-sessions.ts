import { isClosedStatus, isPetrichorError } from '../../core/internal.ts';
import { deriveInvocationId } from '../../core/index.ts';
import type { SessionKey } from '../../core/index.ts';
import { StoreClosedError, StoreUnavailableError } from '../../store/internal.ts';
import type { Store } from '../../store/index.ts';
import { IllegalTransitionError } from '../session/illegal-transition-error.ts';
import type { InputBatch } from '../session/input-batch.ts';
import { RuntimeClosedError } from '../session/runtime-errors.ts';
import type { Session } from '../session/session.ts';
import type { AnchoredSchedule } from './plan-due-time.ts';
import type { RunLook, RunStart, ScheduledSessions } from './schedule-net.ts';
import type { ActiveRun, DueRun } from './schedule-places.ts';

export interface LocalScheduledSessionsOptions {
  readonly app: string;
  readonly store: Store;
  readonly now: () => number;
  readonly createBatch: () => InputBatch;
  /** @throws the error with which an agent cannot start sessions */
  readonly checkNewSession: (agent: string) => Promise<void>;
  readonly find: (id: string, options: { readonly user: string }) => Promise<Session | undefined>;
}

/** The sessions of a runtime, as its schedules start them and send to them. */
export class LocalScheduledSessions implements ScheduledSessions {
  readonly now: () => number;
  readonly #options: LocalScheduledSessionsOptions;

  constructor(options: LocalScheduledSessionsOptions) {
    this.#options = options;
    this.now = options.now;
  }

  readonly start = async (
    user: string,
    schedule: AnchoredSchedule,
    run: DueRun,
  ): Promise<RunStart> => {
    const { id, agent, message } = schedule;
    const sessionId = schedule.session ?? toSessionId(id, run);
    // A message with the same id is added once, so a start that is repeated adds nothing.
    const messageId = `schedule/${id}/${run.id}`;
    try {
      const row = await this.#findRow(user, sessionId);
      if (row === undefined) await this.#options.checkNewSession(agent);
      const lastSeq = row?.lastSeq ?? 0;
      const batch = this.#options.createBatch();
      const session = await batch.session(sessionId, { user, agent });
      const metadata = { schedule: { id, run: run.id, kind: run.kind, dueAt: run.dueAt } };
      const added = await batch.add(
        async () => session.send(message, { messageId, metadata }).accepted,
      );
      const result = await batch.submit();
      await added.done;
      // The turn of a message that was sent before may have ended.
      const isNew = result.ok && result.receipts.some(({ duplicate }) => !duplicate);
      const readTo = isNew ? lastSeq : 0;
      const sessionUid = (await this.#findRow(user, sessionId))?.uid ?? '';
      return { kind: 'started', sessionId, sessionUid, messageId, readTo };
    } catch (error) {
      if (isPetrichorError(error) && !isTransient(error))
        return { kind: 'refused', reason: error.message };
      throw error;
    }
  };

  readonly look = async (user: string, run: ActiveRun): Promise<RunLook> => {
    const row = await this.#findRow(user, run.sessionId);
    // A session that was created again has another uid.
    if (row?.uid !== run.sessionUid) return { kind: 'ended', reason: 'deleted' };
    const invocationId = deriveInvocationId(run.messageId);
    let { readTo, hasBegun } = run;
    for await (const event of this.#options.store.read(row.key, readTo)) {
      if (event.type === 'turn.ended' && event.invocationId === invocationId)
        return { kind: 'ended', reason: event.stopReason };
      hasBegun ||= event.type === 'turn.started' && event.invocationId === invocationId;
      readTo = event.seq;
    }
    const { status } = row;
    if (status === 'quarantined' || isClosedStatus(status))
      return { kind: 'ended', reason: status };
    return { kind: 'running', readTo, hasBegun };
  };

  readonly interrupt = async (user: string, run: ActiveRun): Promise<void> => {
    const session = await this.#options.find(run.sessionId, { user });
    try {
      await session?.interrupt({ invocationId: deriveInvocationId(run.messageId) });
    } catch (error) {
      // A closed session has no turn.
      if (!(error instanceof IllegalTransitionError)) throw error;
    }
  };

  async #findRow(user: string, sessionId: string): ReturnType<Store['find']> {
    const { app: appName, store } = this.#options;
    const key: SessionKey = { appName, userId: user, sessionId };
    return store.find(key);
  }
}

function isTransient(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    error instanceof StoreClosedError ||
    error instanceof RuntimeClosedError
  );
}

/** The session that a run starts: the id of the schedule and the due time, such as `report-20261123T090000Z`. */
function toSessionId(scheduleId: string, run: DueRun): string {
  if (run.kind === 'manual') return `${scheduleId}-${run.id}`;
  return `${scheduleId}-${run.id.replace(/\.000Z$/, 'Z').replaceAll(/[-:.]/g, '')}`;
}
