/**
 * The proofs of the net of an agent: with up to three calls in one response, two queued messages, and one fault in the
 * net's own logic. Session control and the model retry have proofs of their own.
 */
import { agent } from '../../src/agents/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import {
  atMost,
  deadlockFree,
  eventuallyAnswered,
  mutualExclusion,
  noFireAfterEndInvocation,
  noToolAfterInterrupt,
  placeBound,
  reaskBudgetIsBounded,
  unreachable,
} from '../../src/verify/index.ts';
import type { Bounds, QuiescentMarking } from '../../src/verify/index.ts';
import { withoutInhibitor, withoutInput, withoutOutput } from '../cases/net-mutations.ts';
import { withoutEach } from './net-proof.ts';
import type { NetProof } from './net-proof.ts';

const REASK_BUDGET = 2;

const { net } = agent({
  name: 'assistant',
  model: new ScriptedModel([]),
  reaskBudget: REASK_BUDGET,
});

/** Inputs that the proofs of session control and appended events cover. */
export const uncontrolled = {
  'pause.in': 0,
  'resume.in': 0,
  'archive.in': 0,
  'complete.in': 0,
  'event.in': 0,
} as const;

/** Three calls in one response, whether they run, wait or are answered at once. */
const bounds: Bounds = {
  environment: { 'user.in': 2, 'interrupt.in': 1, 'answer.in': 1, 'rewind.in': 0, ...uncontrolled },
  // The proof of the model retry covers repeated calls.
  empty: ['model.rescheduled'],
  together: 3,
  attempts: 2,
  faults: 1,
  states: 400_000,
};
const twoCalls: Bounds = { ...bounds, together: 2 };
const inputs = ['user.in', 'interrupt.in', 'answer.in'];

const ofTurn: readonly string[] = [
  'turn.current',
  'turn.budget',
  'turn.waiting',
  'turn.ending',
  'model.request',
  'running(model.call)',
  'model.response',
  'model.failed',
  'tool.batch',
  'tool.call',
  'running(tool.run)',
  'tool.parked',
  'tool.result',
  'tool.write',
  'turn.stop-requested',
  'turn.stopping',
];

/** No turn runs. A late answer waits for the next turn, which drops it. */
const idle: QuiescentMarking = {
  marked: ['turn.permit'],
  allowed: ['answer.in', 'session.queued', 'session.failed'],
};
/** A turn waits for a person. Later messages wait. */
const waiting: QuiescentMarking = {
  marked: ['turn.waiting', 'turn.current', 'tool.batch', 'tool.parked'],
  allowed: ['tool.result', 'turn.budget', 'answer.in', 'user.in', 'rewind.in'],
};

const restsWhereItMay = deadlockFree([idle, waiting]);
const onePermit = placeBound(['turn.permit', 'turn.current'], 1);
const asksWhenAllIsIn = mutualExclusion('model.request', 'running(tool.run)');
const budgetIsBounded = reaskBudgetIsBounded({
  ask: 'model.call',
  budget: REASK_BUDGET,
  per: 'user.in',
});
const nothingLeft = ofTurn.map((place) => unreachable({ 'turn.permit': 1, [place]: 1 }));
const startsNothingMore = noFireAfterEndInvocation(['model.call', 'tool.run'], 'turn.stopping', {
  until: 'turn.permit',
});

const interruptStopsTools = noToolAfterInterrupt('tool.run', 'turn.interrupt', {
  until: 'turn.permit',
});

export const agentProof: NetProof = {
  name: 'agent',
  net,
  claims: [
    {
      properties: [
        onePermit,
        restsWhereItMay,
        ...nothingLeft,
        asksWhenAllIsIn,
        placeBound('turn.budget', REASK_BUDGET),
        placeBound(['model.request', 'running(model.call)', 'model.response', 'model.failed'], 1),
        placeBound('tool.batch', 1),
        unreachable('net.fault.unhandled'),
      ],
      bounds,
      // The next claim has faults.
      quick: withoutEach({ ...twoCalls, faults: 0 }, inputs),
    },
    {
      // A rewind waits for the running turn.
      properties: [onePermit, restsWhereItMay, ...nothingLeft],
      bounds: {
        ...twoCalls,
        environment: {
          'user.in': 1,
          'interrupt.in': 1,
          'answer.in': 1,
          'rewind.in': 1,
          ...uncontrolled,
        },
      },
    },
    {
      properties: [budgetIsBounded],
      bounds: { ...bounds, faults: 0 },
      quick: [{ bounds: { ...twoCalls, faults: 0 } }],
    },
    {
      // Every turn ends by itself, by an interrupt or by a fault, unless it waits for a person.
      properties: [
        eventuallyAnswered('turn.start', ['turn.end', 'turn.abandon'], { resting: [waiting] }),
      ],
      bounds: twoCalls,
      quick: withoutEach(twoCalls, inputs),
    },
    {
      properties: [
        atMost(['turn.continue', 'turn.conclude'], 1, { per: 'model.response' }),
        startsNothingMore,
        interruptStopsTools,
      ],
      bounds: { ...twoCalls, faults: 0 },
      quick: withoutEach({ ...twoCalls, faults: 0 }, inputs),
    },
  ],
  mutants: [
    {
      that: 'asks again while tools still run',
      net: withoutInhibitor(net, 'turn.continue', 'running(tool.run)'),
      property: asksWhenAllIsIn,
      bounds: twoCalls,
    },
    {
      that: 'is interrupted without stopping its tools',
      net: withoutInput(net, 'turn.interrupt', 'running(tool.run)'),
      property: unreachable({ 'turn.permit': 1, 'running(tool.run)': 1 }),
      bounds: twoCalls,
    },
    {
      that: 'is interrupted and starts the calls that it holds',
      net: withoutInput(net, 'turn.interrupt', 'tool.call'),
      property: interruptStopsTools,
      bounds: twoCalls,
      shows: /fired turn\.interrupt.*[^]*started tool\.run/,
    },
    {
      that: 'asks again without taking a token of its budget',
      net: withoutInput(net, 'turn.continue', 'budget'),
      property: budgetIsBounded,
      bounds: twoCalls,
    },
    {
      that: 'begins a turn without the permit',
      net: withoutInput(net, 'turn.start', 'permit'),
      property: onePermit,
      bounds: twoCalls,
    },
    {
      that: 'ends a turn and keeps the permit',
      net: withoutOutput(net, 'turn.abandon', 'permit'),
      property: restsWhereItMay,
      bounds: twoCalls,
    },
    {
      that: 'waits forever for a person after an interrupt',
      net: withoutInput(
        withoutInput(net, 'turn.interrupt', 'tool.batch'),
        'turn.interrupt',
        'tool.parked',
      ),
      property: restsWhereItMay,
      bounds: twoCalls,
    },
  ],
};
