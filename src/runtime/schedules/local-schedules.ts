import {
  checkDefinition,
  describeValue,
  omitUndefined,
  SCHEDULES_SESSION,
} from '../../core/internal.ts';
import {
  checkOptions,
  deriveScheduleSessionId,
  InvalidInputError,
  newMessageId,
  parseSessionKey,
} from '../../core/index.ts';
import type { Json, SessionKey } from '../../core/index.ts';
import { pauseIn, resumeIn } from '../../agents/internal.ts';
import type { Agent } from '../../agents/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { SessionInput, SessionRow, Store, Submission } from '../../store/index.ts';
import { RuntimeClosedError } from '../session/runtime-errors.ts';
import type { ScheduleAgents } from './schedule-agent.ts';
import {
  parseScheduleDefinition,
  parseScheduleId,
  SCHEDULE_OPTIONS,
} from './schedule-definition.ts';
import type { ScheduleDefinition, StoredSchedule } from './schedule-definition.ts';
import { ScheduleExistsError, ScheduleNotFoundError } from './schedule-errors.ts';
import { definitionIn, triggerIn } from './schedule-places.ts';
import type { ScheduledRun, ScheduleState } from './schedule-places.ts';
import { readStoredSchedule } from './read-stored-schedule.ts';
import {
  SCHEDULE_HISTORY_OPTIONS,
  SCHEDULE_LIST_OPTIONS,
  SCHEDULE_RUN_OPTIONS,
  SCHEDULE_USER,
} from './schedules.ts';
import type {
  Schedule,
  ScheduleHistoryOptions,
  ScheduleListOptions,
  ScheduleRunOptions,
  Schedules,
  ScheduleStatus,
  ScheduleUser,
} from './schedules.ts';

export interface LocalSchedulesOptions {
  readonly app: string;
  readonly owner: string;
  readonly store: Store;
  readonly now: () => number;
  readonly agents: ScheduleAgents;
  /** The name of the agent that has this name, or of the only agent. @throws UnknownAgentError */
  readonly getAgent: (name: string | undefined) => Promise<Agent>;
  /** Writes inputs, and runs the sessions that get them. */
  readonly submit: (submission: Submission) => Promise<unknown>;
  /** @throws QuotaExceededError when the user may have no further schedule */
  readonly checkQuota: (user: string) => Promise<void>;
  readonly delete: (key: SessionKey) => Promise<boolean>;
  /** Notifies of commits to a session, and when the runtime closes. */
  readonly onChange: (key: SessionKey, listener: () => void) => () => void;
  readonly isClosed: () => boolean;
  /** @throws the error with which the session cannot run here */
  readonly assertRunnable: (key: SessionKey) => Promise<void>;
}

const DEFAULT_USER = 'default';
const DEFAULT_LIMIT = 100;

/** The schedules of a runtime. Each is a session: its inputs are submitted like those of other sessions. */
export class LocalSchedules implements Schedules {
  readonly #options: LocalSchedulesOptions;

  constructor(options: LocalSchedulesOptions) {
    this.#options = options;
  }

  async create(definition: ScheduleDefinition, options: ScheduleUser = {}): Promise<Schedule> {
    checkOptions(SCHEDULE_USER, options);
    checkDefinition(SCHEDULE_OPTIONS, definition);
    this.#assertOpen();
    const { agents, owner, now, getAgent, submit, store, checkQuota } = this.#options;
    const { agent: wanted } = definition;
    if (wanted !== undefined && typeof wanted !== 'string')
      throw new InvalidInputError(
        'agent',
        `must be the name of an agent; it is ${describeValue(wanted)}. Pass a name.`,
      );
    const target = await getAgent(wanted);
    const at = now();
    const schedule = parseScheduleDefinition(definition, { agent: target.name, now: at });
    const key = this.#toKey(schedule.id, options);
    if ((await store.find(key)) === undefined) {
      await checkQuota(key.userId);
      const agent = agents.get(target.name);
      const init = { agent: agent.name, owner, at, netHash: agent.compiled.hash };
      const value = toJson(schedule);
      const input = { place: definitionIn.name, value };
      await submit({
        sessions: [{ key, init }],
        inputs: [{ key, input, dedupeKey: 'definition' }],
      });
    }
    const stored = await this.#readTaken(key, schedule.id);
    assertSame(schedule, stored);
    return stored;
  }

  async get(id: string, options: ScheduleUser = {}): Promise<Schedule | undefined> {
    checkOptions(SCHEDULE_USER, options);
    this.#assertOpen();
    const row = await this.#options.store.find(this.#toKey(id, options));
    return row === undefined ? undefined : this.#read(row);
  }

  async list(options: ScheduleListOptions = {}): Promise<readonly Schedule[]> {
    checkOptions(SCHEDULE_LIST_OPTIONS, options);
    this.#assertOpen();
    const { user = DEFAULT_USER, after } = options;
    const limit = parseLimit(options.limit);
    const { store, app: appName } = this.#options;
    let last = after === undefined ? undefined : await store.find(this.#toKey(after, { user }));
    if (after !== undefined && last === undefined)
      throw new InvalidInputError(
        'after',
        `is not the id of a schedule; it is ${describeValue(after)}. Start the list again without after.`,
      );
    const schedules: Schedule[] = [];
    // A row whose schedule cannot be read yet, or any more, does not end the list.
    for (;;) {
      const wanted = limit - schedules.length;
      const rows: readonly SessionRow[] = await store.list({
        appName,
        userId: user,
        parent: SCHEDULES_SESSION,
        order: 'created',
        direction: 'ascending',
        limit: wanted,
        after: last,
      });
      const found = await Promise.all(rows.map(async (row) => this.#read(row)));
      schedules.push(...found.filter((schedule) => schedule !== undefined));
      if (rows.length < wanted || schedules.length === limit) return schedules;
      last = rows.at(-1);
    }
  }

  async pause(id: string, options: ScheduleUser = {}): Promise<Schedule> {
    return this.#signal(id, options, pauseIn);
  }

  async resume(id: string, options: ScheduleUser = {}): Promise<Schedule> {
    return this.#signal(id, options, resumeIn);
  }

  async run(id: string, options: ScheduleRunOptions = {}): Promise<string> {
    checkOptions(SCHEDULE_RUN_OPTIONS, options);
    this.#assertOpen();
    const { key: runKey = newMessageId() } = options;
    if (typeof runKey !== 'string' || !/^[A-Za-z0-9_-]{1,128}$/.test(runKey))
      throw new InvalidInputError(
        'key',
        `must be 1 to 128 letters, digits, _ or -; it is ${describeValue(runKey)}. Pass another key, or none.`,
      );
    const key = this.#toKey(id, options);
    await this.#send(id, {
      key,
      input: { place: triggerIn.name, value: { key: runKey } },
      dedupeKey: `trigger:${runKey}`,
    });
    await this.#waitUntilTaken(key, id);
    return `manual-${runKey}`;
  }

  async history(
    id: string,
    options: ScheduleHistoryOptions = {},
  ): Promise<readonly ScheduledRun[]> {
    checkOptions(SCHEDULE_HISTORY_OPTIONS, options);
    this.#assertOpen();
    const limit = parseLimit(options.limit);
    const { store } = this.#options;
    const row = await store.find(this.#toKey(id, options));
    if (row === undefined) throw new ScheduleNotFoundError(id);
    const runs = (await readStoredSchedule(store, row))?.state?.history ?? [];
    return runs.slice(0, limit);
  }

  async delete(id: string, options: ScheduleUser = {}): Promise<boolean> {
    checkOptions(SCHEDULE_USER, options);
    this.#assertOpen();
    return this.#options.delete(this.#toKey(id, options));
  }

  async #signal(id: string, options: ScheduleUser, place: TokenPlace<null>): Promise<Schedule> {
    checkOptions(SCHEDULE_USER, options);
    this.#assertOpen();
    const key = this.#toKey(id, options);
    const dedupeKey = `signal:${place.name}:${newMessageId()}`;
    await this.#send(id, { key, input: { place: place.name, value: null }, dedupeKey });
    return this.#readTaken(key, id);
  }

  /** @throws ScheduleNotFoundError */
  async #send(id: string, input: SessionInput): Promise<void> {
    try {
      await this.#options.submit({ inputs: [input] });
    } catch (error) {
      throw error instanceof SessionNotFoundError ? new ScheduleNotFoundError(id) : error;
    }
  }

  async #readTaken(key: SessionKey, id: string): Promise<Schedule> {
    const schedule = await this.#read(await this.#waitUntilTaken(key, id));
    if (schedule === undefined) throw new ScheduleNotFoundError(id);
    return schedule;
  }

  /**
   * Waits until the net has taken the inputs of a schedule.
   * @throws ScheduleNotFoundError, RuntimeClosedError, NetChangedError, SessionQuarantinedError
   */
  async #waitUntilTaken(key: SessionKey, id: string): Promise<SessionRow> {
    const { store, onChange, assertRunnable, isClosed } = this.#options;
    for (;;) {
      const changed = Promise.withResolvers<void>();
      const stop = onChange(key, changed.resolve);
      try {
        if (isClosed()) throw new RuntimeClosedError();
        const row = await store.find(key);
        if (row === undefined) throw new ScheduleNotFoundError(id);
        if (!row.inboxPending) return row;
        await assertRunnable(key);
        await changed.promise;
      } finally {
        stop();
      }
    }
  }

  /** Undefined for a schedule that was deleted, or whose definition its net has not taken yet. */
  async #read(row: SessionRow): Promise<Schedule | undefined> {
    const reading = await readStoredSchedule(this.#options.store, row);
    if (reading?.state === undefined) return undefined;
    const { state, nextRunAt } = reading;
    const { anchor: _anchor, ...schedule } = state.definition;
    const [lastRun = null] = state.history;
    return {
      ...schedule,
      user: row.key.userId,
      status: toStatus(reading.row, state),
      createdAt: row.createdAt,
      nextDueAt: state.from,
      nextRunAt,
      waiting: state.waiting.length,
      lastRun,
    };
  }

  #toKey(id: string, { user = DEFAULT_USER }: ScheduleUser): SessionKey {
    const sessionId = deriveScheduleSessionId(parseScheduleId(id));
    return parseSessionKey({ appName: this.#options.app, userId: user, sessionId });
  }

  #assertOpen(): void {
    if (this.#options.isClosed()) throw new RuntimeClosedError();
  }
}

function toJson(schedule: StoredSchedule): Json {
  return omitUndefined(schedule);
}

function toStatus({ status }: SessionRow, { isPaused, from }: ScheduleState): ScheduleStatus {
  if (status === 'quarantined' || status === 'failed') return 'failed';
  if (isPaused) return 'paused';
  return from === null ? 'ended' : 'active';
}

/** @throws ScheduleExistsError */
function assertSame(wanted: StoredSchedule, stored: Schedule): void {
  const fields = [
    'cron',
    'timeZone',
    'everyMs',
    'agent',
    'message',
    'session',
    'overlap',
    'jitterMs',
    'backfill',
    'maxBackfill',
  ] as const;
  const other = fields.find((field) => wanted[field] !== stored[field]);
  if (other !== undefined) throw new ScheduleExistsError(wanted.id, other);
}

/** @throws InvalidInputError */
function parseLimit(limit: number = DEFAULT_LIMIT): number {
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new InvalidInputError(
    'limit',
    `must be an integer of at least 1; it is ${describeValue(limit)}. Pass another limit.`,
  );
}
