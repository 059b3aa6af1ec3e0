/** The proofs of each stock subnet alone. Tokens of its ports arrive at any moment. */
import { allOf, compile, compose, place, pure, put } from '../../src/net/index.ts';
import type { Net } from '../../src/net/index.ts';
import { agent, fallbackModelStep, sessionWrite, state } from '../../src/agents/index.ts';
import type { Subnets } from '../../src/agents/index.ts';
import { transferRouter } from '../../src/agents/transfer/transfer-router.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import {
  atMostOnce,
  atMost,
  deadlockFree,
  joinedOrDeadLettered,
  mutualExclusion,
  noFireAfterEndInvocation,
  placeBound,
} from '../../src/verify/index.ts';
import {
  losing,
  readingInstead,
  withChanged,
  withoutInhibitor,
  withoutInput,
  withoutOutput,
  withoutReset,
  withoutTransition,
} from '../cases/net-mutations.ts';
import type { Property } from '../../src/verify/index.ts';
import type { NetProof } from './net-proof.ts';

const REASK_BUDGET = 2;
const model = new ScriptedModel([]);

/** The subnets of an agent, and in addition a fallback and a transfer router. */
function stockSubnets(): Subnets {
  const taken: Subnets[] = [];
  agent({
    name: 'assistant',
    model,
    reaskBudget: REASK_BUDGET,
    subnets: (stock) => {
      taken.push(stock);
      return {};
    },
  });
  const [stock] = taken;
  if (stock === undefined) throw new Error('an agent asks for its subnets');
  return stock;
}

export const stock: Subnets = stockSubnets();
const failing = 'net.fault';

const builder = stock.turnStart;
const begins = { environment: { 'user.in': 2, 'turn.permit': 2 }, upTo: REASK_BUDGET };
const oneTurnAPermit = atMostOnce('turn.start', { per: 'turn.permit' });
const fullBudget = placeBound('turn.budget', REASK_BUDGET);

export const promptBuilderProof: NetProof = {
  name: 'prompt builder',
  net: builder,
  claims: [
    {
      properties: [
        oneTurnAPermit,
        fullBudget,
        joinedOrDeadLettered({
          from: 'user.in',
          joined: 'model.request',
          deadLetters: [failing],
        }),
      ],
      bounds: begins,
    },
  ],
  mutants: [
    {
      that: 'begins a turn without the permit',
      net: withoutInput(builder, 'turn.start', 'permit'),
      property: oneTurnAPermit,
      bounds: begins,
    },
    {
      that: 'carries the budget of one turn over to the next',
      net: withoutReset(builder, 'turn.start', 'turn.budget'),
      property: fullBudget,
      bounds: begins,
    },
  ],
};

const step = stock.modelStep;
const modelInputs = { environment: { 'model.request': 2, 'turn.current': 1, 'turn.stopping': 1 } };
const asksNothingMore = noFireAfterEndInvocation(['model.call'], 'turn.stopping');
const failureEndsTurn = joinedOrDeadLettered({
  from: 'model.failed',
  joined: 'turn.ending',
  deadLetters: [failing],
});

export const modelStepProof: NetProof = {
  name: 'model step',
  net: step,
  claims: [
    {
      properties: [
        failureEndsTurn,
        joinedOrDeadLettered({
          from: 'model.request',
          joined: 'model.response',
          deadLetters: ['model.failed', failing],
          through: ['running(model.call)'],
        }),
      ],
      // A fault of any transition is a dead letter. The proof of the model retry covers repeated calls.
      bounds: { ...modelInputs, faults: 0, empty: ['model.rescheduled'] },
    },
    { properties: [asksNothingMore], bounds: modelInputs },
  ],
  mutants: [
    {
      that: 'calls the model after the end of the turn',
      net: withoutInhibitor(step, 'model.call', 'turn.stopping'),
      property: asksNothingMore,
      bounds: modelInputs,
    },
    {
      that: 'fails and does not end the turn',
      net: withoutOutput(step, 'model.fail', 'ending'),
      property: failureEndsTurn,
      bounds: { ...modelInputs, faults: 0 },
    },
  ],
};

const route = stock.router;
const answers = {
  environment: { 'model.response': 2, 'turn.current': 1, 'turn.stopping': 1 },
  together: 3,
};
const routesNothingMore = noFireAfterEndInvocation(['model.route'], 'turn.stopping');
const callsOrEnd = joinedOrDeadLettered({
  from: 'model.response',
  joined: 'tool.batch',
  deadLetters: ['turn.ending', failing],
});

export const routerProof: NetProof = {
  name: 'router',
  net: route,
  claims: [{ properties: [routesNothingMore, callsOrEnd], bounds: answers }],
  mutants: [
    {
      that: 'routes an answer after the end of the turn',
      net: withoutInhibitor(route, 'model.route', 'turn.stopping'),
      property: routesNothingMore,
      bounds: answers,
    },
    {
      that: 'does not end the turn for an answer without calls',
      net: losing(route, 'model.route', 'done'),
      property: callsOrEnd,
      bounds: answers,
    },
  ],
};

/** Calls belong to a batch, so the net includes the router. */
const dispatch = compose('tool-dispatch', { nets: [route, stock.toolDispatch] });
const dispatches = {
  environment: {
    'model.response': 1,
    'turn.current': 1,
    'answer.in': 1,
    'turn.budget': 1,
    'turn.stopping': 1,
  },
  together: 3,
  faults: 1,
};
const asksWhenAllIsIn = mutualExclusion('model.request', 'running(tool.run)');
const joinsOnce = atMost(['turn.continue', 'turn.conclude'], 1, { per: 'model.response' });
const startsNothingMore = noFireAfterEndInvocation(
  ['tool.run', 'tool.answer', 'turn.continue', 'turn.conclude'],
  'turn.stopping',
);

export const toolDispatchProof: NetProof = {
  name: 'tool dispatch, under its router',
  net: dispatch,
  claims: [
    {
      properties: [
        asksWhenAllIsIn,
        placeBound('tool.batch', 1),
        placeBound('turn.waiting', 1),
        mutualExclusion('turn.ending', 'running(tool.run)'),
      ],
      bounds: dispatches,
    },
    { properties: [joinsOnce, startsNothingMore], bounds: { ...dispatches, faults: 0 } },
  ],
  mutants: [
    {
      that: 'asks again while a tool runs',
      net: withoutInhibitor(dispatch, 'turn.continue', 'running(tool.run)'),
      property: asksWhenAllIsIn,
      bounds: dispatches,
    },
    {
      that: 'starts a tool after the end of the turn',
      net: withoutInhibitor(dispatch, 'tool.run', 'turn.stopping'),
      property: startsNothingMore,
      bounds: { ...dispatches, faults: 0 },
    },
    {
      that: 'asks again and keeps the batch',
      net: readingInstead(dispatch, 'turn.continue', 'batch'),
      property: joinsOnce,
      bounds: {
        ...dispatches,
        environment: { ...dispatches.environment, 'turn.budget': 2 },
        faults: 0,
      },
    },
  ],
};

const writer = stock.sessionWriter;
const WRITES = 3;
const writes = { environment: { 'state.write': WRITES } };
/** There are as many state changes as writes, whichever transition makes them. */
const oncePerWrite = (net: Net): Property => atMost(writersIn(net), WRITES);
const note = place('note.in', { environment: true });
const scribble = pure('note.scribble', {
  take: { note },
  give: allOf({ state: put(state) }),
  run: () => ({ state: {} }),
});
const withScribble: Net = { ...writer, transitions: [...writer.transitions, scribble] };
const writingAgain = withChanged(writer, 'state.persist', ({ give }) => {
  if (give.give !== 'allOf') throw new TypeError('the writer has one outcome');
  return { give: allOf({ ...give.outputs, again: sessionWrite }) };
});

function writersIn(net: Net): readonly string[] {
  return compile(net)
    .transitions.filter(({ alternatives }) =>
      [...alternatives.values()].some(({ outputs }) =>
        outputs.some(({ place: to }) => to.name === state.name),
      ),
    )
    .map(({ name }) => name);
}

export const sessionWriterProof: NetProof = {
  name: 'session writer',
  net: writer,
  claims: [
    {
      properties: [oncePerWrite(writer), deadlockFree(['net.fault', 'net.fault.unhandled'])],
      bounds: writes,
    },
  ],
  mutants: [
    {
      that: 'has a second writer of session state',
      net: withScribble,
      property: oncePerWrite(withScribble),
      bounds: writes,
      shows: /note\.scribble/,
    },
    {
      that: 'writes the same write twice',
      net: writingAgain,
      property: oncePerWrite(writingAgain),
      bounds: writes,
    },
  ],
};

const fallback = fallbackModelStep({
  models: [model, new ScriptedModel([])],
  tools: [],
  attempts: 2,
  timeoutMs: 60_000,
});
const fallsBack = { environment: { 'model.request': 1, 'turn.current': 1, 'turn.stopping': 1 } };
const oneQuestion = placeBound(
  ['model.request', 'running(model.call)', 'model.rescheduled', 'model.response', 'model.failed'],
  1,
);
const comesToSomething = deadlockFree([
  'model.response',
  'turn.ending',
  'turn.current',
  'turn.stopping',
  // The turn was stopped first, or there is no turn to end.
  {
    marked: ['turn.stopping'],
    allowed: [
      'model.request',
      'model.rescheduled',
      'model.attempted',
      'model.failed',
      'turn.current',
    ],
  },
  { marked: ['model.failed'], allowed: ['model.request', 'model.attempted'] },
  // A call waits for its next attempt.
  { marked: ['model.rescheduled'], allowed: ['model.attempted', 'turn.current'] },
]);

export const fallbackModelStepProof: NetProof = {
  name: 'fallback model step, of two models',
  net: fallback,
  claims: [
    // The number of failed models is a value, so in the net there is always a next one.
    { properties: [oneQuestion, asksNothingMore], bounds: fallsBack, route: 'solver' },
    { properties: [comesToSomething], bounds: { ...fallsBack, faults: 0 }, route: 'solver' },
  ],
  mutants: [
    {
      that: 'never calls a model again after it was down',
      net: withoutTransition(fallback, 'model.recover'),
      property: comesToSomething,
      bounds: { ...fallsBack, faults: 0 },
    },
    {
      that: 'calls the next model after the end of the turn',
      net: withoutInhibitor(fallback, 'model.call', 'turn.stopping'),
      property: asksNothingMore,
      bounds: { ...fallsBack, faults: 0 },
    },
  ],
};

const transfer = transferRouter({
  agentName: 'desk',
  targets: [
    { name: 'billing', description: 'Bills.' },
    { name: 'repairs', description: 'Repairs.' },
  ],
});
const transfers = {
  environment: { 'turn.transfer': 2, 'turn.transfer-budget': 1 },
  upTo: 2,
  faults: 0,
};
const arrives = joinedOrDeadLettered({
  from: 'turn.transfer',
  joined: 'target/billing',
  deadLetters: ['target/repairs', 'target/unknown'],
});
const refusalIsTold = joinedOrDeadLettered({
  from: 'target/unknown',
  joined: 'tool.batch',
});
const noneIsStuck = deadlockFree([
  'turn.transfer-budget',
  'target/billing',
  'target/repairs',
  'tool.batch',
  'tool.result',
]);

export const transferRouterProof: NetProof = {
  name: 'transfer router, of two agents',
  net: transfer,
  claims: [{ properties: [arrives, refusalIsTold, noneIsStuck], bounds: transfers }],
  mutants: [
    {
      that: 'has no output for an unknown agent name',
      net: losing(transfer, 'transfer.route', 'unknown'),
      property: arrives,
      bounds: transfers,
    },
    {
      that: 'keeps the transfer token when the transfer limit is reached',
      net: withoutTransition(transfer, 'transfer.spend'),
      property: noneIsStuck,
      bounds: transfers,
    },
    {
      that: 'rejects a transfer without an error result',
      net: withoutOutput(transfer, 'transfer.refuse', 'batch'),
      property: refusalIsTold,
      bounds: transfers,
    },
  ],
};
