/** The net of a schedule: one run for each due time, one run at a time. */
import { scheduleNet } from '../../src/runtime/schedules/schedule-net.ts';
import type { ScheduledSessions } from '../../src/runtime/schedules/schedule-net.ts';
import {
  runDue,
  schedulePassed,
  scheduleTimer,
} from '../../src/runtime/schedules/schedule-places.ts';
import { allOf, oneOf } from '../../src/net/index.ts';
import {
  deadlockFree,
  eventOutBounded,
  eventuallyAnswered,
  placeBound,
  settles,
} from '../../src/verify/index.ts';
import type { Bounds } from '../../src/verify/index.ts';
import { losing, readingInstead, withChanged, withoutInput } from '../cases/net-mutations.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

const never = async (): Promise<never> => new Promise(() => {});
const sessions: ScheduledSessions = { now: () => 0, start: never, look: never, interrupt: never };
const MAX_DUE = 2;
const net = scheduleNet(sessions, { maxDue: MAX_DUE });

const bounds: Bounds = {
  environment: {
    'schedule.in': 2,
    'schedule.state-in': 0,
    'trigger.in': 1,
    'pause.in': 1,
    'resume.in': 1,
  },
  attempts: 1,
};
const withoutFaults: Bounds = { ...bounds, faults: 0 };
/** Only the timer makes runs due. */
const timed: Bounds = { ...bounds, environment: { ...bounds.environment, 'trigger.in': 0 } };

/** The schedule continues from the state of its former journal. */
const continued: Bounds = {
  ...bounds,
  environment: {
    'schedule.in': 0,
    'schedule.state-in': 1,
    'trigger.in': 0,
    'pause.in': 1,
    'resume.in': 1,
  },
};
/** Also with a definition, which comes before or after it. */
const definedTwice: Bounds = {
  ...bounds,
  environment: {
    'schedule.in': 1,
    'schedule.state-in': 1,
    'trigger.in': 0,
    'pause.in': 0,
    'resume.in': 0,
  },
};

const oneTimer = placeBound(
  ['schedule.timer', 'schedule.passed', 'schedule.paused', 'schedule.ended'],
  1,
);
const oneRun = placeBound(
  [
    'run.slot',
    'run.ready',
    'running(run.start)',
    'run.active',
    'run.check-due',
    'running(run.check)',
  ],
  1,
);
const room = placeBound(['run.room', 'run.queued', 'run.challenger'], MAX_DUE);
/** Each due time is one token of the timer, and this makes one run due at most. */
const onePerDueTime = eventOutBounded('run.due', 1, { per: 'schedule.timer' });
const decided = eventuallyAnswered('run.due', ['run.admit', 'run.overflow']);
const settled = settles();
const phases = ['schedule.timer', 'schedule.paused', 'schedule.ended'] as const;
/** The schedule waits for its timer, is paused or has ended, and either no run is active or one is. */
const rests = deadlockFree([
  { marked: ['run.slot'], allowed: ['run.room'] },
  ...phases.flatMap((phase) => [
    { marked: ['schedule.definition', phase, 'run.slot'], allowed: ['run.room'] },
    { marked: ['schedule.definition', phase, 'run.active'], allowed: ['run.room', 'run.queued'] },
  ]),
]);

export const scheduleProof: NetProof = {
  name: 'schedule',
  net,
  claims: [
    { properties: [oneTimer, oneRun, room, settled], bounds },
    {
      properties: [oneTimer, oneRun, room, settled],
      bounds: continued,
      quick: withoutEach(continued, ['resume.in']),
    },
    { properties: [oneTimer, oneRun], bounds: definedTwice },
    { properties: [onePerDueTime], bounds: timed },
    { properties: [decided, rests], bounds: withoutFaults },
    { properties: [decided, rests], bounds: { ...continued, faults: 0 } },
  ],
  mutants: [
    {
      that: 'fires and gives the timer back',
      net: withChanged(net, 'schedule.fire', () => ({
        give: oneOf({ due: allOf({ due: runDue, passed: schedulePassed, timer: scheduleTimer }) }),
      })),
      property: oneTimer,
      bounds,
    },
    {
      that: 'makes two runs due at once',
      net: withChanged(net, 'schedule.fire', () => ({
        give: oneOf({ due: allOf({ due: runDue, again: runDue, passed: schedulePassed }) }),
      })),
      property: onePerDueTime,
      bounds: timed,
    },
    {
      that: 'continues an active run and keeps the slot',
      net: readingInstead(net, 'schedule.continue', 'slot'),
      property: oneRun,
      bounds: continued,
    },
    {
      that: 'continues beside a definition',
      net: withChanged(net, 'schedule.continue', () => ({ unless: [] })),
      property: oneTimer,
      bounds: definedTwice,
    },
    {
      that: 'resumes and stays paused',
      net: readingInstead(net, 'schedule.resume', 'paused'),
      property: oneTimer,
      bounds: { ...bounds, environment: { ...bounds.environment, 'resume.in': 2 } },
    },
    {
      that: 'begins a run without the slot',
      net: withoutInput(net, 'run.begin', 'slot'),
      property: oneRun,
      bounds,
    },
    {
      that: 'looks at a run and keeps it',
      net: readingInstead(net, 'run.challenge', 'run'),
      property: oneRun,
      bounds,
    },
    {
      that: 'plans the next due time and forgets the timer',
      net: losing(net, 'schedule.plan', 'timed'),
      property: rests,
      bounds: withoutFaults,
    },
    {
      that: 'cannot send a message and keeps the slot',
      net: losing(net, 'run.start', 'refused'),
      property: rests,
      bounds: withoutFaults,
    },
  ],
};
