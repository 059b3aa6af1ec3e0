import * as v from 'valibot';
import { mapPlace, place } from '../../net/index.ts';
import type { MapPlace, TokenPlace } from '../../net/index.ts';
import type { StoredSchedule } from './schedule-definition.ts';
import type { AnchoredSchedule, PlannedRun } from './plan-due-time.ts';

/** Why a run is due. */
export type ScheduledRunKind = 'scheduled' | 'backfill' | 'manual';

/** A run that is due. */
export interface DueRun {
  /** Its due time, or the key of the request that started it. Unique in its schedule. */
  readonly id: string;
  readonly kind: ScheduledRunKind;
  /** Epoch ms. */
  readonly dueAt: number;
}

/** A run whose message was sent. */
export interface ActiveRun extends DueRun {
  readonly sessionId: string;
  /** The unique id of the session. Empty: the session was deleted before it was read. */
  readonly sessionUid: string;
  readonly messageId: string;
  /** Epoch ms. */
  readonly startedAt: number;
  /** The last event of the session that was looked at for the end of the run. */
  readonly readTo: number;
  /** Whether its turn was seen to start. Until then the message waits, and an interrupt has no effect. */
  readonly hasBegun: boolean;
  /** How long to wait before the next look, in milliseconds. */
  readonly waitMs: number;
}

/** A look at a run: has it ended? */
export interface RunCheck {
  readonly run: ActiveRun;
  /** The run that is due and waits for this one. */
  readonly challenger?: DueRun | undefined;
}

/** The status of a run. `missed`: no process was there at the due times from `dueAt` to `missedTo`. */
export type ScheduledRunStatus = 'running' | 'ended' | 'failed' | 'skipped' | 'replaced' | 'missed';

/** What is recorded about a run. Times are epoch ms. */
export interface ScheduledRun {
  readonly id: string;
  readonly kind: ScheduledRunKind;
  readonly dueAt: number;
  readonly status: ScheduledRunStatus;
  readonly sessionId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** Why the turn ended, or why the run was skipped or failed. */
  readonly reason?: string | undefined;
  readonly missedTo?: number | undefined;
}

const kind = v.picklist(['scheduled', 'backfill', 'manual']);
const dueRun = v.object({ id: v.string(), kind, dueAt: v.number() });
const activeRun = v.object({
  ...dueRun.entries,
  sessionId: v.string(),
  sessionUid: v.string(),
  messageId: v.string(),
  startedAt: v.number(),
  readTo: v.number(),
  hasBegun: v.boolean(),
  waitMs: v.number(),
});
const storedSchedule = {
  id: v.string(),
  cron: v.optional(v.string()),
  timeZone: v.optional(v.string()),
  everyMs: v.optional(v.number()),
  agent: v.string(),
  message: v.string(),
  session: v.optional(v.string()),
  overlap: v.picklist(['skip', 'queue', 'replace']),
  jitterMs: v.number(),
  backfill: v.picklist(['none', 'last', 'all']),
  maxBackfill: v.number(),
};
/** The schema of an entry of the history. */
export const runEntrySchema: v.GenericSchema<unknown, ScheduledRun> = v.object({
  ...dueRun.entries,
  status: v.picklist(['running', 'ended', 'failed', 'skipped', 'replaced', 'missed']),
  sessionId: v.optional(v.string()),
  messageId: v.optional(v.string()),
  startedAt: v.optional(v.number()),
  endedAt: v.optional(v.number()),
  reason: v.optional(v.string()),
  missedTo: v.optional(v.number()),
});

const startedRun = v.looseObject(dueRun.entries);
const anchoredSchedule = v.object({ ...storedSchedule, anchor: v.number() });
const runCheckSchema = v.object({ run: activeRun, challenger: v.optional(dueRun) });

/**
 * Everything about a schedule that its next journal must know. Its format does not depend on the net, so a schedule
 * continues on the net of another release.
 */
export interface ScheduleState {
  readonly definition: AnchoredSchedule;
  readonly isPaused: boolean;
  /** The first due time that was not decided about. Null: there is none, or the schedule is paused. */
  readonly from: number | null;
  /** The run whose message is to be sent, or may have been sent. */
  readonly ready: DueRun | null;
  readonly active: ActiveRun | null;
  /** The runs that are due and have not begun, the first one first. */
  readonly waiting: readonly DueRun[];
  readonly history: readonly ScheduledRun[];
}

/** The schemas of the tokens from which the state of a schedule is read. */
export const STATE_SCHEMAS: {
  readonly definition: v.GenericSchema<unknown, AnchoredSchedule>;
  readonly timer: v.GenericSchema<unknown, { readonly dueAt: number }>;
  readonly passed: v.GenericSchema<unknown, { readonly from: number | null }>;
  readonly due: v.GenericSchema<unknown, DueRun>;
  readonly active: v.GenericSchema<unknown, ActiveRun>;
  /** An active run of this release or an earlier one. */
  readonly started: v.GenericSchema<unknown, DueRun>;
  readonly check: v.GenericSchema<
    unknown,
    { readonly run: DueRun; readonly challenger?: DueRun | undefined }
  >;
} = {
  definition: anchoredSchedule,
  timer: v.object({ dueAt: v.number() }),
  passed: v.object({ from: v.nullable(v.number()) }),
  due: dueRun,
  active: activeRun,
  started: startedRun,
  check: v.object({ run: startedRun, challenger: v.optional(dueRun) }),
};

/** The schema of the state of a schedule. */
export const scheduleStateSchema: v.GenericSchema<unknown, ScheduleState> = v.object({
  definition: anchoredSchedule,
  isPaused: v.boolean(),
  from: v.nullable(v.number()),
  ready: v.nullable(dueRun),
  active: v.nullable(activeRun),
  waiting: v.array(dueRun),
  history: v.array(runEntrySchema),
});

/** In place of the definition: what the schedule continues from, when its journal begins anew. */
export const stateIn: TokenPlace<ScheduleState> = place('schedule.state-in', scheduleStateSchema, {
  environment: true,
  version: 1,
});

/** The schema of a definition. */
export const definitionSchema: v.GenericSchema<unknown, StoredSchedule> = v.object(storedSchedule);

/** The definition of the schedule, once. */
export const definitionIn: TokenPlace<StoredSchedule> = place('schedule.in', definitionSchema, {
  environment: true,
  version: 1,
});

/** A run that somebody starts now. */
export const triggerIn: TokenPlace<{ readonly key: string }> = place(
  'trigger.in',
  v.object({ key: v.string() }),
  { environment: true, version: 1 },
);

/** The definition, with the time at which an interval begins. */
export const scheduleDefinition: TokenPlace<AnchoredSchedule> = place(
  'schedule.definition',
  anchoredSchedule,
  { version: 1 },
);

/** The next due time. The only token that makes a run due, so each due time makes one run at most. */
export const scheduleTimer: TokenPlace<PlannedRun & { readonly waitMs: number }> = place(
  'schedule.timer',
  v.object({
    dueAt: v.number(),
    fireAt: v.number(),
    isBackfill: v.boolean(),
    waitMs: v.number(),
  }),
  { version: 1 },
);

/** In place of the timer: a due time has passed. Holds the next due time that is to be decided about. */
export const schedulePassed: TokenPlace<{ readonly from: number | null }> = place(
  'schedule.passed',
  v.object({ from: v.nullable(v.number()) }),
  { version: 1 },
);

/** In place of the timer: the schedule is paused. */
export const schedulePaused: TokenPlace<null> = place('schedule.paused');

/** In place of the timer: there is no due time any more. */
export const scheduleEnded: TokenPlace<null> = place('schedule.ended');

/** A run that is due, before it is known what it waits for. */
export const runDue: TokenPlace<DueRun> = place('run.due', dueRun, { version: 1 });

/** One token for each run that may still wait. */
export const runRoom: TokenPlace<null> = place('run.room');

/** Runs that wait until the runs before them have ended. */
export const runQueued: TokenPlace<DueRun> = place('run.queued', dueRun, { version: 1 });

/** Runs that do not wait: the run before them must have ended, or is replaced, or they are skipped. */
export const runChallenger: TokenPlace<DueRun> = place('run.challenger', dueRun, { version: 1 });

/** The permit to run: one run at a time. */
export const runSlot: TokenPlace<null> = place('run.slot');

/** The run whose message is to be sent. */
export const runReady: TokenPlace<DueRun> = place('run.ready', dueRun, { version: 1 });

/** The run whose turn was not seen to end yet. */
export const runActive: TokenPlace<ActiveRun> = place('run.active', activeRun, { version: 1 });

/** A look at the active run that is to be made. */
export const runCheck: TokenPlace<RunCheck> = place('run.check-due', runCheckSchema, {
  version: 1,
});

/** Something about a run that the history does not have yet. */
export const runRecord: TokenPlace<ScheduledRun> = place('run.record', runEntrySchema, {
  version: 1,
});

/** The last runs, by id. */
export const runHistory: MapPlace = mapPlace('run.history', { version: 1 });
