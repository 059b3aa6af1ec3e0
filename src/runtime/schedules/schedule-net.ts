import { getAgentHost, pauseIn, resumeIn } from '../../agents/internal.ts';
import { allOf, effect, initialToken, net, oneOf, pure, put, upTo } from '../../net/index.ts';
import type { Net, Transition } from '../../net/index.ts';
import { addToHistory, toHistory } from './run-history.ts';
import { findNextDue, isMissed, planRun } from './plan-due-time.ts';
import type { AnchoredSchedule, MissedRange, PlannedRun } from './plan-due-time.ts';
import { MAX_DUE_RUNS } from './schedule-limits.ts';
import {
  definitionIn,
  runActive,
  runChallenger,
  runCheck,
  runDue,
  runHistory,
  runQueued,
  runReady,
  runRecord,
  runRoom,
  runSlot,
  scheduleDefinition,
  scheduleEnded,
  schedulePassed,
  schedulePaused,
  scheduleTimer,
  stateIn,
  triggerIn,
} from './schedule-places.ts';
import type { ActiveRun, DueRun, ScheduledRun } from './schedule-places.ts';

/** The result of sending the message of a run. `refused`: it cannot be sent, and a retry does not help. */
export type RunStart =
  | {
      readonly kind: 'started';
      readonly sessionId: string;
      readonly sessionUid: string;
      readonly messageId: string;
      readonly readTo: number;
    }
  | { readonly kind: 'refused'; readonly reason: string };

/** The result of a look at a run. */
export type RunLook =
  | { readonly kind: 'running'; readonly readTo: number; readonly hasBegun: boolean }
  | { readonly kind: 'ended'; readonly reason: string };

/** The sessions that a schedule starts and sends to. */
export interface ScheduledSessions {
  /** Epoch ms. */
  readonly now: () => number;
  /** Sends the message of a run. A repeated call with the same run sends nothing more. */
  readonly start: (user: string, schedule: AnchoredSchedule, run: DueRun) => Promise<RunStart>;
  readonly look: (user: string, run: ActiveRun) => Promise<RunLook>;
  /** Interrupts the turn of a run, if it has not ended. */
  readonly interrupt: (user: string, run: ActiveRun) => Promise<void>;
}

/** A run is looked at after as long as it has run, but at least and at most after so long. */
const MIN_LOOK_MS = 2_000;
const MAX_LOOK_MS = 300_000;
const START_TIMEOUT_MS = 60_000;

/** Before the runs that are due. */
const RECORD_PRIORITY = 100;
/** Before other runs begin. */
const ADMIT_PRIORITY = 10;
const IGNORE_PRIORITY = -1;

/**
 * The net of a schedule. One token, of the timer, is the next due time: its firing makes a run due, and the timer of the
 * next due time is planned. One permit, the slot, makes runs follow each other.
 * @param options.maxDue the most runs that wait. Default: 50
 */
export function scheduleNet(
  sessions: ScheduledSessions,
  { maxDue = MAX_DUE_RUNS }: { readonly maxDue?: number } = {},
): Net {
  const define = pure('schedule.define', {
    take: { definition: definitionIn },
    unless: [scheduleDefinition],
    give: oneOf({
      timed: allOf({ definition: scheduleDefinition, timer: scheduleTimer }),
      ended: allOf({ definition: scheduleDefinition, ended: scheduleEnded }),
    }),
    run: ({ definition }, { at }) => {
      const schedule = { ...definition, anchor: at };
      const { next } = planRun(schedule, findNextDue(schedule, at), at);
      return next === undefined
        ? { ended: { definition: schedule, ended: null } }
        : { timed: { definition: schedule, timer: toTimer(next, at) } };
    },
  });

  // A look at the active run has one run that is due, beside those that wait.
  const kept = {
    definition: scheduleDefinition,
    due: upTo(maxDue + 1, runDue),
    history: put(runHistory),
  };
  const continueSchedule = pure('schedule.continue', {
    take: { state: stateIn, slot: runSlot },
    unless: [scheduleDefinition],
    give: oneOf({
      planned: allOf({ ...kept, passed: schedulePassed, slot: runSlot }),
      plannedReady: allOf({ ...kept, passed: schedulePassed, ready: runReady }),
      plannedActive: allOf({ ...kept, passed: schedulePassed, active: runActive }),
      paused: allOf({ ...kept, paused: schedulePaused, slot: runSlot }),
      pausedReady: allOf({ ...kept, paused: schedulePaused, ready: runReady }),
      pausedActive: allOf({ ...kept, paused: schedulePaused, active: runActive }),
    }),
    run: ({ state: { definition, isPaused, from, ready, active, waiting: due, history } }) => {
      const rest = { definition, due, history: toHistory(history) };
      const passed = { from };
      if (active !== null)
        return isPaused
          ? { pausedActive: { ...rest, paused: null, active } }
          : { plannedActive: { ...rest, passed, active } };
      if (ready !== null)
        return isPaused
          ? { pausedReady: { ...rest, paused: null, ready } }
          : { plannedReady: { ...rest, passed, ready } };
      return isPaused
        ? { paused: { ...rest, paused: null, slot: null } }
        : { planned: { ...rest, passed, slot: null } };
    },
  });

  const fire = pure('schedule.fire', {
    take: { timer: scheduleTimer },
    read: { schedule: scheduleDefinition },
    after: ({ waitMs }) => waitMs,
    give: oneOf({
      due: allOf({ due: runDue, passed: schedulePassed }),
      late: allOf({ passed: schedulePassed }),
    }),
    run: ({ timer, schedule }, { at }) => {
      const { dueAt, isBackfill } = timer;
      if (!isBackfill && isMissed(schedule, dueAt, at))
        return { late: { passed: { from: dueAt } } };
      const from = findNextDue(schedule, dueAt);
      return { due: { due: toDueRun(timer), passed: { from: from ?? null } } };
    },
  });

  // A moment later, so that each due time is a step of its own.
  const plan = pure('schedule.plan', {
    take: { passed: schedulePassed },
    read: { schedule: scheduleDefinition },
    after: 1,
    give: oneOf({
      timed: allOf({ timer: scheduleTimer, records: upTo(1, runRecord) }),
      ended: allOf({ ended: scheduleEnded, records: upTo(1, runRecord) }),
    }),
    run: ({ passed, schedule }, { at }) => {
      const { next, missed } = planRun(schedule, passed.from ?? undefined, at);
      const records = toMissedRecords(missed);
      return next === undefined
        ? { ended: { ended: null, records } }
        : { timed: { timer: toTimer(next, at), records } };
    },
  });

  const pause = pure('schedule.pause', {
    take: { pause: pauseIn, timer: scheduleTimer },
    give: allOf({ paused: schedulePaused }),
    run: () => ({ paused: null }),
  });

  const resume = pure('schedule.resume', {
    take: { resume: resumeIn, paused: schedulePaused },
    read: { schedule: scheduleDefinition },
    give: oneOf({ timed: allOf({ timer: scheduleTimer }), ended: allOf({ ended: scheduleEnded }) }),
    run: ({ schedule }, { at }) => {
      const { next } = planRun(schedule, findNextDue(schedule, at), at);
      return next === undefined
        ? { ended: { ended: null } }
        : { timed: { timer: toTimer(next, at) } };
    },
  });

  const trigger = pure('schedule.trigger', {
    take: { trigger: triggerIn },
    read: { schedule: scheduleDefinition },
    give: allOf({ due: runDue }),
    run: ({ trigger: { key } }, { at }) => ({
      due: { id: `manual-${key}`, kind: 'manual' as const, dueAt: at },
    }),
  });

  const ignored = [
    pure('schedule.ignore-definition', {
      take: { definition: definitionIn },
      priority: IGNORE_PRIORITY,
      give: allOf({}),
      run: () => ({}),
    }),
    pure('schedule.ignore-state', {
      take: { state: stateIn },
      priority: IGNORE_PRIORITY,
      give: allOf({}),
      run: () => ({}),
    }),
    pure('schedule.ignore-pause', {
      take: { pause: pauseIn },
      unless: [schedulePassed],
      priority: IGNORE_PRIORITY,
      give: allOf({}),
      run: () => ({}),
    }),
    pure('schedule.ignore-resume', {
      take: { resume: resumeIn },
      priority: IGNORE_PRIORITY,
      give: allOf({}),
      run: () => ({}),
    }),
    pure('schedule.ignore-trigger', {
      take: { trigger: triggerIn },
      priority: IGNORE_PRIORITY,
      give: allOf({}),
      run: () => ({}),
    }),
  ];

  const record = pure('run.record', {
    take: { entry: runRecord },
    read: { history: runHistory },
    priority: RECORD_PRIORITY,
    give: allOf({ history: put(runHistory) }),
    run: ({ entry, history }) => ({ history: addToHistory(history, entry) }),
  });

  return net('schedule', {
    in: { definitionIn, stateIn, pauseIn, resumeIn, triggerIn },
    out: {},
    transitions: [
      define,
      continueSchedule,
      fire,
      plan,
      pause,
      resume,
      trigger,
      ...ignored,
      record,
      ...admission(),
      startRun(sessions),
      checkRun(sessions),
    ],
    initial: [
      initialToken(runSlot, null),
      ...Array.from({ length: maxDue }, () => initialToken(runRoom, null)),
    ],
  });
}

/** From a due run to the run that is ready: the overlap policy, the room for waiting runs, and the slot. */
function admission(): readonly Transition[] {
  const admit = pure('run.admit', {
    take: { due: runDue, room: runRoom },
    read: { schedule: scheduleDefinition },
    priority: ADMIT_PRIORITY,
    give: oneOf({
      queued: allOf({ queued: runQueued }),
      challenger: allOf({ challenger: runChallenger }),
    }),
    run: ({ due, schedule }) =>
      schedule.overlap === 'queue'
        ? { queued: { queued: due } }
        : { challenger: { challenger: due } },
  });

  const overflow = pure('run.overflow', {
    take: { due: runDue },
    unless: [runRoom],
    priority: ADMIT_PRIORITY,
    give: allOf({ entry: runRecord }),
    run: ({ due }) => ({ entry: toSkipped(due, 'too many runs wait') }),
  });

  const beginQueued = pure('run.begin-queued', {
    take: { run: runQueued, slot: runSlot },
    give: allOf({ ready: runReady, room: runRoom }),
    run: ({ run }) => ({ ready: run, room: null }),
  });

  const begin = pure('run.begin', {
    take: { run: runChallenger, slot: runSlot },
    give: allOf({ ready: runReady, room: runRoom }),
    run: ({ run }) => ({ ready: run, room: null }),
  });

  const challenge = pure('run.challenge', {
    take: { challenger: runChallenger, run: runActive },
    give: allOf({ check: runCheck, room: runRoom }),
    run: ({ challenger, run }) => ({ check: { run, challenger }, room: null }),
  });

  const poll = pure('run.poll', {
    take: { run: runActive },
    after: ({ waitMs }) => waitMs,
    give: allOf({ check: runCheck }),
    run: ({ run }) => ({ check: { run } }),
  });

  return [admit, overflow, beginQueued, begin, challenge, poll];
}

/** Sends the message of a run. After a crash it is sent again under the same key, which adds nothing. */
function startRun(sessions: ScheduledSessions): Transition {
  return effect('run.start', {
    take: { run: runReady },
    read: { schedule: scheduleDefinition },
    timeoutMs: START_TIMEOUT_MS,
    retry: { attempts: 8, backoff: '1s..60s' },
    onCrash: 'rerun',
    give: oneOf({
      started: allOf({ active: runActive, entry: runRecord }),
      refused: allOf({ slot: runSlot, entry: runRecord }),
    }),
    failed: ({ message }, { run }) => toRefused(run, message),
    run: async ({ run, schedule }, { host }) => {
      const result = await sessions.start(getUser(host), schedule, run);
      if (result.kind === 'refused') return toRefused(run, result.reason);
      const { sessionId, sessionUid, messageId, readTo } = result;
      const startedAt = sessions.now();
      return {
        started: {
          active: {
            ...run,
            sessionId,
            sessionUid,
            messageId,
            startedAt,
            readTo,
            hasBegun: false,
            waitMs: MIN_LOOK_MS,
          },
          entry: { ...run, status: 'running' as const, sessionId, messageId, startedAt },
        },
      };
    },
  });
}

/** Looks whether the active run has ended. With a run that waits for it, decides about that one by the overlap policy. */
function checkRun(sessions: ScheduledSessions): Transition {
  return effect('run.check', {
    take: { check: runCheck },
    read: { schedule: scheduleDefinition },
    timeoutMs: START_TIMEOUT_MS,
    retry: { attempts: 8, backoff: '1s..60s' },
    onCrash: 'rerun',
    give: oneOf({
      ended: allOf({ slot: runSlot, entry: runRecord }),
      next: allOf({ ready: runReady, entry: runRecord }),
      running: allOf({ active: runActive, records: upTo(1, runRecord) }),
    }),
    failed: ({ message }, { check: { run, challenger } }) => ({
      running: {
        active: { ...run, waitMs: MAX_LOOK_MS },
        records: challenger === undefined ? [] : [toSkipped(challenger, message)],
      },
    }),
    run: async ({ check: { run, challenger }, schedule }, { host }) => {
      const look = await sessions.look(getUser(host), run);
      const endedAt = sessions.now();
      if (look.kind === 'ended') {
        const entry = toEntry(run, { status: 'ended', endedAt, reason: look.reason });
        return challenger === undefined
          ? { ended: { slot: null, entry } }
          : { next: { ready: challenger, entry } };
      }
      const { readTo, hasBegun } = look;
      // In one session, messages that wait would pile up.
      const canReplace = hasBegun || schedule.session === undefined;
      if (challenger !== undefined && schedule.overlap === 'replace' && canReplace) {
        await sessions.interrupt(getUser(host), run);
        return {
          next: { ready: challenger, entry: toEntry(run, { status: 'replaced', endedAt }) },
        };
      }
      const waitMs = Math.min(MAX_LOOK_MS, Math.max(MIN_LOOK_MS, endedAt - run.startedAt));
      return {
        running: {
          active: { ...run, readTo, hasBegun, waitMs },
          records:
            challenger === undefined
              ? []
              : [toSkipped(challenger, 'the run before it has not ended')],
        },
      };
    },
  });
}

/** The user of the schedule's session. */
function getUser(host: unknown): string {
  const user = getAgentHost(host)?.sessionKey.userId;
  if (user === undefined) throw new Error('A schedule runs in a runtime only.');
  return user;
}

function toTimer(next: PlannedRun, at: number): PlannedRun & { readonly waitMs: number } {
  return { ...next, waitMs: Math.max(0, next.fireAt - at) };
}

function toDueRun({ dueAt, isBackfill }: PlannedRun): DueRun {
  return {
    id: new Date(dueAt).toISOString(),
    kind: isBackfill ? 'backfill' : 'scheduled',
    dueAt,
  };
}

function toMissedRecords(missed: MissedRange | undefined): readonly ScheduledRun[] {
  if (missed === undefined) return [];
  const { from, to } = missed;
  return [
    {
      id: new Date(from).toISOString(),
      kind: 'scheduled',
      dueAt: from,
      status: 'missed',
      missedTo: to,
    },
  ];
}

function toSkipped({ id, kind, dueAt }: DueRun, reason: string): ScheduledRun {
  return { id, kind, dueAt, status: 'skipped', reason };
}

function toRefused(
  { id, kind, dueAt }: DueRun,
  reason: string,
): { readonly refused: { readonly slot: null; readonly entry: ScheduledRun } } {
  return { refused: { slot: null, entry: { id, kind, dueAt, status: 'failed', reason } } };
}

function toEntry(
  { id, kind, dueAt }: ActiveRun,
  change: Pick<ScheduledRun, 'status' | 'endedAt' | 'reason'>,
): ScheduledRun {
  return { id, kind, dueAt, ...change };
}
