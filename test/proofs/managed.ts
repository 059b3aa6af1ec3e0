/**
 * The proofs of a managed session as a whole, and of each net that makes a session a managed one, with the turn it acts
 * on: how it is paused and closed, how its model call is retried, and how its work is graded.
 */
import {
  agent,
  custom,
  modelRequest,
  sessionControl,
  turnBudget,
  turnCurrent,
  turnEnding,
  turnPermit,
  turnStopping,
} from '../../src/agents/index.ts';
import { failedTurnRetry } from '../../src/agents/session/failed-turn-retry.ts';
import { noUsage } from '../../src/core/index.ts';
import { compileAgent } from '../../src/managed/compilation/compile-agent.ts';
import { outcomeRounds } from '../../src/agents/outcomes/outcome-rounds.ts';
import { all, allOf, compile, compose, initialToken, net, pure } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import {
  atMost,
  deadlockFree,
  neverFiresAfter,
  placeBound,
  unreachable,
} from '../../src/verify/index.ts';
import type { Bounds } from '../../src/verify/index.ts';
import {
  losing,
  withChanged,
  withoutInhibitor,
  withoutInput,
  withoutOutput,
  withoutReset,
  withoutTransition,
} from '../cases/net-mutations.ts';
import type { NetProof } from './net-proof.ts';
import { stock } from './subnets.ts';

/** A turn that only ends, by itself or because it is stopped. */
const turn: Net = net('turn', {
  in: { modelRequest, turnCurrent, turnStopping, turnBudget },
  out: { turnPermit },
  transitions: [
    pure('turn.finish', {
      take: { turn: turnCurrent, request: modelRequest },
      reset: [turnBudget],
      give: allOf({ permit: turnPermit }),
      run: () => ({ permit: null }),
    }),
    pure('turn.stop', {
      take: {
        stops: all(turnStopping),
        turn: turnCurrent,
        requests: all(modelRequest, { min: 0 }),
      },
      reset: [turnBudget],
      priority: 100,
      give: allOf({ permit: turnPermit }),
      run: () => ({ permit: null }),
    }),
  ],
});

const permits = ['turn.permit', 'turn.current', 'session.archived', 'session.completed'];
const onePermit = placeBound(permits, 1);

const control = compose('session-control', {
  nets: [sessionControl(), stock.turnStart, turn],
  initial: [initialToken(turnPermit, null)],
});
const moved = {
  environment: {
    'user.in': 2,
    'pause.in': 2,
    'resume.in': 1,
    'archive.in': 1,
    'complete.in': 1,
    'answer.in': 0,
  },
  upTo: 1,
  faults: 0,
};
const heldBeginsNothing = neverFiresAfter(['turn.start'], 'session.paused', {
  until: 'session.resume',
});
const closedBeginsNothing = neverFiresAfter(['turn.start'], 'session.closing');
// The turn here writes no state, so the state of a message stays in its place.
const rests = deadlockFree([
  { marked: ['turn.permit'], allowed: ['session.queued', 'state.write'] },
  {
    marked: ['turn.permit', 'session.paused'],
    allowed: ['user.in', 'session.queued', 'state.write'],
  },
  { marked: ['session.archived'], allowed: ['user.in', 'state.write'] },
  { marked: ['session.completed'], allowed: ['user.in', 'state.write'] },
]);

export const sessionControlProof: NetProof = {
  name: 'session control',
  net: control,
  claims: [
    {
      properties: [
        onePermit,
        rests,
        heldBeginsNothing,
        closedBeginsNothing,
        neverFiresAfter(['turn.start'], 'session.completed'),
        placeBound('session.paused', 1),
      ],
      bounds: moved,
    },
  ],
  mutants: [
    {
      that: 'begins a turn while it is paused',
      net: withoutInhibitor(control, 'turn.start', 'session.paused'),
      property: heldBeginsNothing,
      bounds: moved,
    },
    {
      that: 'is archived and keeps the permit',
      net: withoutInput(control, 'session.close', 'permit'),
      property: onePermit,
      bounds: moved,
    },
    {
      that: 'begins another turn before it is archived',
      net: withChanged(control, 'session.close', (t) => ({ ...t, priority: -1 })),
      property: closedBeginsNothing,
      bounds: moved,
    },
  ],
};

const retries = compose('model-retry', {
  nets: [stock.modelStep, failedTurnRetry({ reaskBudget: 1 })],
});
const tried = {
  environment: {
    'model.request': 1,
    'turn.current': 1,
    'turn.permit': 1,
    'session.paused': 1,
    'resume.in': 1,
  },
  // The process does not die during an attempt.
  upTo: { 'model.attempted': 0 },
  attempts: 1,
  faults: 0,
};
const pausedAsksNothing = neverFiresAfter(['model.call', 'model.retry'], 'session.paused');
const oneCall = placeBound(
  ['model.request', 'running(model.call)', 'model.rescheduled', 'model.response', 'model.failed'],
  2,
);

export const modelRetryProof: NetProof = {
  name: 'model retry',
  net: retries,
  claims: [
    {
      properties: [
        pausedAsksNothing,
        oneCall,
        placeBound('session.failed', 2),
        placeBound('model.attempted', 4),
      ],
      bounds: tried,
    },
  ],
  mutants: [
    {
      that: 'calls its model while it is paused',
      net: withoutInhibitor(retries, 'model.call', 'session.paused'),
      property: pausedAsksNothing,
      bounds: tried,
    },
    {
      that: 'fires a retry while it is paused',
      net: withoutInhibitor(retries, 'model.retry', 'session.paused'),
      property: pausedAsksNothing,
      bounds: tried,
    },
  ],
};

/** A turn whose model answers, and which is interrupted once. */
const working: Net = net('working', {
  in: { modelRequest, turnCurrent, turnEnding, turnBudget, turnPermit },
  out: { turnCurrent, turnEnding, turnPermit },
  transitions: [
    pure('turn.begin', {
      take: { permit: turnPermit },
      priority: -1,
      give: allOf({ turn: turnCurrent, ending: turnEnding }),
      run: () => ({
        turn: { invocationId: 'e', round: 1, usage: noUsage },
        ending: { stopReason: 'end_turn' as const },
      }),
    }),
    pure('model.answer', {
      take: { request: modelRequest },
      give: allOf({ ending: turnEnding }),
      run: () => ({ ending: { stopReason: 'end_turn' as const } }),
    }),
    pure('turn.end', {
      take: { ending: turnEnding, turn: turnCurrent },
      reset: [turnBudget],
      give: allOf({}),
      run: () => ({}),
    }),
  ],
});
const rounds = compose('outcome-rounds', {
  nets: [
    outcomeRounds({
      agentName: 'helper',
      grader: new ScriptedModel([]),
      revision: { place: modelRequest, reaskBudget: 1 },
    }).net,
    working,
  ],
  initial: [initialToken(turnPermit, null)],
});
const judged = {
  environment: { 'outcome.in': 1, 'user.in': 0, 'complete.in': 0 },
  upTo: 2,
  attempts: 1,
  faults: 0,
};
const roundsAreBounded = atMost(['outcome.apply-verdict'], 2);
const oneJudgement = placeBound(
  ['outcome.grading', 'running(outcome.grade)', 'outcome.verdict'],
  1,
);

export const outcomeRoundsProof: NetProof = {
  name: 'outcome rounds',
  net: rounds,
  claims: [
    {
      properties: [
        roundsAreBounded,
        oneJudgement,
        placeBound('outcome.active', 1),
        unreachable({ 'turn.permit': 1, 'running(outcome.grade)': 1 }),
      ],
      bounds: judged,
    },
  ],
  mutants: [
    {
      that: 'starts a revision without taking a token of its rounds',
      net: withoutInput(rounds, 'outcome.apply-verdict', 'round'),
      property: roundsAreBounded,
      bounds: judged,
    },
    {
      that: 'keeps the rounds of the previous outcome',
      net: withoutReset(rounds, 'outcome.define', 'outcome.round'),
      property: placeBound('outcome.round', 2),
      bounds: { ...judged, environment: { ...judged.environment, 'outcome.in': 2 } },
    },
  ],
};

const {
  agent: { net: session },
} = await compileAgent(
  'helper',
  {
    name: 'helper',
    model: 'none',
    tools: [{ type: 'custom', name: 'deploy', input_schema: { type: 'object' } }],
  },
  {},
  {
    resolver: async () => new ScriptedModel([]),
    reaskBudget: 1,
    modelAttempts: 2,
    customToolTimeoutMs: 300_000,
  },
);

/** One token at once, and no attempt of a model call during which the process dies. */
const oneAtOnce = {
  ...Object.fromEntries([...compile(session).places.keys()].map((name) => [name, 1])),
  'model.attempted': 0,
};

/** The bounds: one token for each of these environment places, and the number of faults. */
function coming(named: readonly string[], faults = 0): Bounds {
  const inputs = ['user', 'answer', 'interrupt', 'rewind', 'pause', 'resume', 'archive'];
  const environment = Object.fromEntries(
    [...inputs, 'complete', 'outcome', 'event'].map((name) => [
      `${name}.in`,
      named.includes(name) ? 1 : 0,
    ]),
  );
  return { environment, upTo: oneAtOnce, attempts: 1, faults, shutdowns: false };
}

/** The places that may have tokens whenever a session rests. */
const standing = [
  'session.queued',
  'session.failed',
  'outcome.active',
  'outcome.round',
  'answer.in',
];
/** The places of outcomes that messages come before. */
const queuedOutcomes = ['outcome.waiting', 'outcome.next'];
/** The places that may have tokens while a turn rests. */
const inTurn = [
  ...standing,
  'turn.budget',
  'tool.result',
  'model.attempted',
  'user.in',
  ...queuedOutcomes,
];
const unserved = [...standing, 'user.in', 'outcome.in', ...queuedOutcomes];
/** A session rests between turns, while it is paused or closed, and while it waits for a person or a retry. */
const restsAsItStands = deadlockFree([
  { marked: ['turn.permit'], allowed: standing },
  { marked: ['turn.permit', 'session.paused'], allowed: unserved },
  { marked: ['session.archived'], allowed: unserved },
  { marked: ['session.completed'], allowed: unserved },
  {
    marked: ['turn.waiting', 'turn.current', 'tool.batch', 'tool.parked'],
    allowed: [...inTurn, 'session.paused'],
  },
  {
    marked: ['turn.current', 'model.rescheduled', 'model.attempted'],
    allowed: [...inTurn, 'session.paused'],
  },
  { marked: ['turn.current', 'session.paused', 'model.request'], allowed: inTurn },
  { marked: ['turn.current', 'session.paused', 'outcome.grading'], allowed: inTurn },
  {
    marked: ['turn.current', 'session.paused', 'tool.batch', 'tool.call'],
    allowed: [...inTurn, 'tool.parked', 'turn.waiting'],
  },
]);
const effects = ['model.call', 'tool.run', 'outcome.grade'];
const heldStartsNothing = neverFiresAfter(effects, 'session.paused', { until: 'session.resume' });
const archivedStartsNothing = neverFiresAfter(effects, 'session.archived');
const stoppedStartsNothing = neverFiresAfter(effects, 'turn.stopping', { until: 'turn.permit' });
const closes = [onePermit, restsAsItStands, archivedStartsNothing];
const moves = ['user', 'interrupt', 'pause', 'resume', 'archive'];
const withoutInterrupt = moves.filter((input) => input !== 'interrupt');

export const managedSessionProof: NetProof = {
  name: 'managed session',
  net: session,
  claims: [
    {
      properties: [...closes, heldStartsNothing, stoppedStartsNothing],
      bounds: coming(moves),
      quick: [{ bounds: coming(withoutInterrupt) }],
    },
    // A failure in a closed session returns a permit, which is removed before anything can take it.
    {
      properties: [restsAsItStands, archivedStartsNothing],
      bounds: coming(moves, 1),
      quick: [{ bounds: coming(['user', 'archive', 'interrupt'], 1) }],
    },
    {
      properties: [...closes, heldStartsNothing, stoppedStartsNothing],
      bounds: coming(['user', 'answer', 'pause', 'archive']),
    },
    {
      properties: [...closes, heldStartsNothing],
      bounds: coming(['user', 'outcome', 'pause', 'archive']),
      quick: [{ bounds: coming(['user', 'outcome', 'pause']) }],
    },
    { properties: closes, bounds: coming(['outcome', 'complete', 'resume', 'interrupt']) },
  ],
  mutants: [
    {
      that: 'is archived and lets its turn continue',
      net: withoutOutput(session, 'session.stop', 'stops'),
      property: restsAsItStands,
      bounds: coming(['user', 'archive']),
    },
    {
      that: 'fails when it is archived, and continues',
      net: withoutTransition(session, 'archived.discard-permit'),
      property: archivedStartsNothing,
      bounds: coming(['user', 'archive', 'resume'], 1),
    },
    {
      that: 'runs a tool while it is paused',
      net: withoutInhibitor(session, 'tool.run', 'session.paused'),
      property: heldStartsNothing,
      bounds: coming(['user', 'pause']),
    },
    {
      that: 'is stopped and keeps a call that is scheduled for a retry',
      net: withoutReset(session, 'turn.stop', 'model.rescheduled'),
      property: restsAsItStands,
      bounds: coming(['user', 'archive']),
    },
    {
      that: 'judges work while it is paused',
      net: withoutInhibitor(session, 'outcome.grade', 'session.paused'),
      property: heldStartsNothing,
      bounds: coming(['outcome', 'pause']),
    },
    {
      that: 'keeps criteria that a message came before',
      net: withoutTransition(session, 'outcome.define-next'),
      property: restsAsItStands,
      bounds: coming(['user', 'outcome']),
    },
    {
      that: 'judges a turn and loses it',
      net: losing(session, 'outcome.evaluate', 'grade'),
      property: restsAsItStands,
      bounds: coming(['outcome']),
    },
  ],
};

/** A goal for agents that hand the turn to each other: a revision begins with the first of them. */
const { net: team } = agent({
  name: 'desk',
  model: new ScriptedModel([]),
  reaskBudget: 1,
  maxTransfers: 1,
  subAgents: [custom({ name: 'a', maxYields: 1, async *run() {} })],
  outcomes: { grader: new ScriptedModel([]) },
});
const revised: Bounds = {
  environment: {
    ...Object.fromEntries(
      [...compile(team).places.values()]
        .filter(({ environment }) => environment)
        .map(({ name }) => [name, 0]),
    ),
    'outcome.in': 1,
  },
  empty: ['desk/model.rescheduled'],
  upTo: 1,
  attempts: 1,
  faults: 0,
  shutdowns: false,
};
const restsAfterOutcome = deadlockFree([
  {
    marked: ['turn.permit'],
    allowed: ['session.queued', 'session.failed', 'outcome.active', 'outcome.round'],
  },
  { marked: ['session.completed'], allowed: ['outcome.round'] },
  {
    marked: ['turn.waiting', 'turn.current', 'desk/tool.batch', 'desk/tool.parked'],
    allowed: [...standing, 'desk/turn.budget', 'turn.transfer-budget', 'desk/tool.result'],
  },
]);

export const outcomesOfAgentsProof: NetProof = {
  name: 'outcome rounds of agents that hand the turn to each other',
  net: team,
  claims: [
    {
      properties: [
        restsAfterOutcome,
        onePermit,
        oneJudgement,
        placeBound('turn.transfer-budget', 1),
        atMost(['outcome.revise'], 1),
      ],
      bounds: revised,
    },
  ],
  mutants: [
    {
      that: 'adds the transfers of a revision to those of the round before',
      net: withoutReset(team, 'outcome.revise', 'turn.transfer-budget'),
      property: placeBound('turn.transfer-budget', 1),
      bounds: revised,
    },
    {
      that: 'begins a revision with no agent',
      net: withoutTransition(team, 'outcome.revise'),
      property: restsAfterOutcome,
      bounds: revised,
    },
  ],
};

export const managedProofs: readonly NetProof[] = [
  managedSessionProof,
  sessionControlProof,
  modelRetryProof,
  outcomeRoundsProof,
  outcomesOfAgentsProof,
];
