/**
 * What is proved of a managed session's net: an agent's, held, retried, judged and closed. Each claim looks at one of
 * these with all that a turn can do, for all of them at once have too many states.
 */
import { compileAgent } from '../../src/managed/compile-agent.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import {
  atMost,
  deadlockFree,
  neverFiresAfter,
  placeBound,
  unreachable,
} from '../../src/verify/index.ts';
import type { Bounds, Resting } from '../../src/verify/index.ts';
import { withoutInhibitor, withoutInput, withoutReset } from '../cases/mutant.ts';
import type { NetProof } from './net-proof.ts';

const REASK_BUDGET = 1;

const { agent } = await compileAgent(
  'agent-v1',
  { name: 'assistant', model: 'gemini-2.5-flash' },
  {},
  {
    resolver: async () => new ScriptedModel([]),
    reaskBudget: REASK_BUDGET,
    modelAttempts: 2,
    customToolTimeoutMs: 1000,
  },
);
export const managedNet: typeof agent.net = agent.net;
const net = managedNet;

/** What a client may send; each claim says which of it comes. */
const nothing: Readonly<Record<string, number>> = {
  'user.in': 1,
  'interrupt.in': 0,
  'answer.in': 0,
  'rewind.in': 0,
  'pause.in': 0,
  'resume.in': 0,
  'archive.in': 0,
  'complete.in': 0,
  'outcome.in': 0,
};
const bounded: Bounds = { upTo: 2, together: 1, attempts: 1, faults: 0, states: 600_000 };
const moving: Bounds = {
  ...bounded,
  environment: { ...nothing, 'pause.in': 1, 'resume.in': 1, 'archive.in': 1, 'complete.in': 1 },
};
const retrying: Bounds = {
  ...bounded,
  environment: { ...nothing, 'user.in': 2, 'interrupt.in': 1, 'resume.in': 1 },
};
const judging: Bounds = {
  ...bounded,
  faults: 1,
  environment: { ...nothing, 'outcome.in': 1, 'interrupt.in': 1 },
};

const beside = [
  'answer.in',
  'session.queued',
  'session.failed',
  'model.tried',
  'outcome.active',
  'outcome.round',
  'outcome.grading',
  'outcome.verdict',
];
const held = ['user.in', 'rewind.in', 'outcome.in'];
const ofTurn = [
  'turn.current',
  'turn.budget',
  'turn.waiting',
  'tool.batch',
  'tool.call',
  'tool.parked',
  'tool.result',
  'model.request',
  'model.rescheduled',
];
const rests: readonly Resting[] = [
  { marked: ['turn.permit'], allowed: beside },
  {
    marked: ['turn.waiting', 'turn.current', 'tool.batch', 'tool.parked'],
    allowed: [...beside, ...held, 'tool.result', 'turn.budget'],
  },
  { marked: ['session.paused', 'turn.permit'], allowed: [...beside, ...held] },
  { marked: ['session.paused', 'turn.current'], allowed: [...beside, ...held, ...ofTurn] },
  { marked: ['session.archived'], allowed: [...beside, ...held] },
  { marked: ['session.completed'], allowed: [...beside, ...held] },
];

const onePermit = placeBound(
  ['turn.permit', 'turn.current', 'session.archived', 'session.completed'],
  1,
);
const begins = ['prompt.build', 'model.ask', 'tool.run', 'model.retry', 'outcome.grade'];
const pausedBeginsNothing = neverFiresAfter(begins, 'session.paused', { until: 'session.resume' });
const archivedBeginsNothing = neverFiresAfter([...begins, 'session.retry'], 'session.archived');
const completedBeginsNothing = neverFiresAfter([...begins, 'session.retry'], 'session.completed');
const restsWhereItMay = deadlockFree(rests);
const noRetryBetweenTurns = unreachable({ 'turn.permit': 1, 'model.rescheduled': 1 });
const roundsAreBounded = atMost(['outcome.settle'], 2, { per: 'outcome.in' });
const gradesInTurns = unreachable({ 'turn.permit': 1, 'running(outcome.grade)': 1 });

export const managedProof: NetProof = {
  name: 'managed session',
  net,
  claims: [
    {
      properties: [
        onePermit,
        restsWhereItMay,
        pausedBeginsNothing,
        archivedBeginsNothing,
        completedBeginsNothing,
        placeBound('session.paused', 1),
        unreachable('net.fault.unhandled'),
      ],
      bounds: moving,
    },
    {
      properties: [
        onePermit,
        restsWhereItMay,
        noRetryBetweenTurns,
        placeBound('session.failed', 1),
        unreachable({ 'turn.current': 1, 'session.failed': 1, 'model.response': 1 }),
      ],
      bounds: retrying,
    },
    {
      properties: [
        onePermit,
        restsWhereItMay,
        roundsAreBounded,
        placeBound('outcome.active', 1),
        placeBound(['outcome.grading', 'running(outcome.grade)', 'outcome.verdict'], 1),
      ],
      bounds: judging,
    },
  ],
  mutants: [
    {
      that: 'asks its model while it is paused',
      net: withoutInhibitor(net, 'model.ask', 'session.paused'),
      property: pausedBeginsNothing,
      bounds: moving,
    },
    {
      that: 'is archived and keeps the permit',
      net: withoutInput(net, 'session.close', 'permit'),
      property: onePermit,
      bounds: moving,
    },
    {
      that: 'is interrupted and asks its model again all the same',
      net: withoutReset(net, 'turn.interrupt', 'model.rescheduled'),
      property: noRetryBetweenTurns,
      bounds: retrying,
    },
    {
      that: 'revises without paying for it',
      net: withoutInput(net, 'outcome.settle', 'round'),
      property: roundsAreBounded,
      bounds: judging,
    },
  ],
};
void gradesInTurns;
