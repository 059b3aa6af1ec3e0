import {
  atMost,
  deadlockFree,
  noFireAfterEndInvocation,
  placeBound,
  reaskBudgetIsBounded,
} from '../../verify/index.ts';
import type { Bounds, Property, QuiescentMarking } from '../../verify/index.ts';
import { agentCallers } from '../transfer/agent-returns.ts';
import type { Agent } from '../agent/agent.ts';
import { customBudget, customWaiting, loopBudget } from '../custom/loop-and-custom-places.ts';
import { answerIn, userIn } from '../vocabulary/messages.ts';
import { turnBudget, turnCurrent, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import { rewindIn, turnStopping } from '../vocabulary/control.ts';
import { toolBatch, toolParked, toolResult } from '../vocabulary/tool-call.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { workflowBudget, workflowRun } from '../workflow/workflow-places.ts';

/** How far an agent's proof looks. What is not named here is unbounded: orders of events, declared outcomes. */
export interface AgentProofLimits {
  /** Messages of the user; 1 unless said. Everything else from outside comes once. */
  readonly messages?: number;
  /** Tool calls of one answer, and re-asks of one turn; 2 unless said. */
  readonly atOnce?: number;
  /** How often a transition's own logic may fail; 1 unless said. */
  readonly faults?: number;
  /** Whether the owner may close at any time and another go on; no unless said. */
  readonly shutdowns?: boolean;
  /** The search gives up after this many states; a million unless said. */
  readonly states?: number;
  /** Places that may hold tokens at rest, besides the agent's own. */
  readonly quiescentPlaces?: readonly string[];
}

/** What is proved of an agent, and over what. */
export interface AgentProof {
  /**
   * By a short name: `deadlockFree`, `oneTurn`, `noFireAfterEndInvocation`, `reaskBudgetIsBounded` (of several agents
   * each, as `reaskBudgetIsBounded/billing`), `loopIsBounded/…`, `yieldsAreBounded/…`, `stepsAreBounded/…`,
   * `transfersAreBounded`. One whose places the net has not is left out.
   */
  readonly properties: Readonly<Record<string, Property>>;
  readonly bounds: Bounds;
}

const MODEL_CALL = 'model.ask';
const DEFAULT_AT_ONCE = 2;
const DEFAULT_STATES = 1_000_000;
/** So many states decide when to give up, and a slow machine does not. */
const SEARCH_TIMEOUT_MS = 600_000;

/**
 * What every agent promises, whatever it is made of: it rests only between turns or while calls wait for an answer,
 * one turn runs at a time, an agent asks its model again no more often than its budget says, and once a turn is to stop
 * nothing begins.
 */
export function agentProof(agent: Agent, limits: AgentProofLimits = {}): AgentProof {
  const { messages = 1, atOnce = DEFAULT_AT_ONCE, faults = 1, shutdowns = false } = limits;
  const { places } = agent.compiled;
  const has = (...of: readonly { readonly name: string }[]): boolean =>
    of.every(({ name }) => places.has(name));
  const effects = agent.compiled.transitions
    .filter(({ spec }) => spec.kind === 'effect')
    .map(({ name }) => name);
  return {
    properties: {
      deadlockFree: deadlockFree(quiescentStates(agent, limits.quiescentPlaces ?? [])),
      ...(has(turnPermit, turnCurrent) && {
        oneTurn: placeBound([turnPermit.name, turnCurrent.name], 1),
      }),
      ...Object.fromEntries(reaskBudgets(agent, atOnce)),
      ...Object.fromEntries(roundBudgets(agent, atOnce)),
      ...(has(transferBudget) && {
        transfersAreBounded: atMost(
          [
            ...transitionsNamed(agent, 'transfer.route'),
            ...transitionsNamed(agent, 'custom.transfer'),
          ],
          Math.min(atOnce, maxOutputCount(agent, transferBudget.name)),
          { per: userIn.name },
        ),
      }),
      ...(has(turnStopping, turnPermit) && {
        noFireAfterEndInvocation: noFireAfterEndInvocation(effects, turnStopping.name, {
          until: turnPermit.name,
        }),
      }),
    },
    bounds: {
      environment: has(userIn) ? { [userIn.name]: messages } : {},
      upTo: atOnce,
      faults,
      shutdowns,
      states: limits.states ?? DEFAULT_STATES,
      searchTimeoutMs: SEARCH_TIMEOUT_MS,
    },
  };
}

/** The net rests between turns; and in a turn while some agent's calls wait for an answer. */
function quiescentStates(
  { compiled }: Agent,
  more: readonly string[],
): readonly QuiescentMarking[] {
  const names = [...compiled.places.keys()];
  const known = (...of: readonly { readonly name: string }[]): readonly string[] =>
    of.map(({ name }) => name).filter((name) => compiled.places.has(name));
  const allNamed = (...of: readonly { readonly name: string }[]): readonly string[] =>
    of.flatMap(({ name }) => names.filter((full) => full === name || full.endsWith(`/${name}`)));
  const idle = { marked: known(turnPermit), allowed: [...known(answerIn), ...more] };
  const parked = allNamed(toolParked);
  const batches = allNamed(toolBatch);
  const held = [
    ...parked,
    ...batches,
    ...allNamed(turnBudget, toolResult, loopBudget, customBudget, customWaiting, agentCallers),
    ...allNamed(workflowRun, workflowBudget),
    ...names.filter((name) => name.startsWith('done/') || isNodeQuiescent(name, names)),
    ...known(transferBudget, answerIn, userIn, rewindIn),
    ...more,
  ];
  const inTurn = known(turnCurrent, turnWaiting);
  if (inTurn.length < 2) return [idle];
  const waiting = parked.map((place) => {
    const owner = place.slice(0, -toolParked.name.length);
    const owned = [`${owner}${toolBatch.name}`, `${owner}${workflowRun.name}`];
    return {
      marked: [...inTurn, place, ...names.filter((name) => owned.includes(name))],
      allowed: held,
    };
  });
  return [idle, ...waiting];
}

/** Nodes of a workflow that wait for an agent or for others to join, and those behind them. */
function isNodeQuiescent(name: string, names: readonly string[]): boolean {
  return (
    /\/node\.(?:waiting-|.*-from-)/.test(name) ||
    (name.includes('/node.ready-') &&
      names.includes(name.replace('/node.ready-', '/node.waiting-')))
  );
}

/** For each agent that asks a model: at most once more than its budget says, for each time it has its turn. */
function reaskBudgets(agent: Agent, atOnce: number): readonly (readonly [string, Property])[] {
  return transitionsNamed(agent, MODEL_CALL).flatMap((ask) => {
    const owner = ask.slice(0, -MODEL_CALL.length);
    const per = owner === '' ? userIn.name : targetPlace(owner.slice(0, -1)).name;
    const places = [`${owner}${turnBudget.name}`, per];
    if (places.some((name) => !agent.compiled.places.has(name))) return [];
    const budget = Math.min(atOnce, maxOutputCount(agent, places[0] ?? ''));
    const name = `reaskBudgetIsBounded${owner === '' ? '' : `/${owner.slice(0, -1)}`}`;
    return [[name, reaskBudgetIsBounded({ ask, budget, per })]];
  });
}

/** For each loop, and each custom agent: at most as many rounds as its budget says, for each time it has its turn. */
function roundBudgets(agent: Agent, atOnce: number): readonly (readonly [string, Property])[] {
  const bounded = (t: string, budget: string, name: string): (readonly [string, Property])[] =>
    transitionsNamed(agent, t).map((full) => {
      const owner = full.slice(0, -t.length);
      const max = Math.min(atOnce, maxOutputCount(agent, `${owner}${budget}`));
      const per = targetPlace(owner.slice(0, -1)).name;
      return [`${name}/${owner.slice(0, -1)}`, atMost([full], max, { per })];
    });
  return [
    ...bounded('loop.again', loopBudget.name, 'loopIsBounded'),
    ...bounded('custom.step', customBudget.name, 'yieldsAreBounded'),
    ...workflowBudgets(agent, atOnce),
  ];
}

/** For each workflow: its nodes take at most as many steps as its budget says, for each time it has its turn. */
function workflowBudgets(agent: Agent, atOnce: number): readonly (readonly [string, Property])[] {
  const { places, transitions } = agent.compiled;
  const budgets = [...places.keys()].filter((name) => name.endsWith(`/${workflowBudget.name}`));
  return budgets.map((budget) => {
    const owner = budget.slice(0, -workflowBudget.name.length);
    const steps = transitions
      .filter(({ takes }) => takes.some(({ place }) => place === budget))
      .map(({ name }) => name);
    const per = targetPlace(owner.slice(0, -1)).name;
    const max = Math.min(atOnce, maxOutputCount(agent, budget));
    return [`stepsAreBounded/${owner.slice(0, -1)}`, atMost(steps, max, { per })];
  });
}

/** The transitions of this name, of whichever agent. */
function transitionsNamed({ compiled }: Agent, name: string): readonly string[] {
  return compiled.transitions
    .map((t) => t.name)
    .filter((full) => full === name || full.endsWith(`/${name}`));
}

/** The most tokens that a firing puts in a place; 0 when none does. */
function maxOutputCount({ compiled }: Agent, name: string): number {
  const counts = compiled.transitions
    .flatMap(({ alternatives }) => [...alternatives.values()])
    .flatMap(({ outputs }) => outputs)
    .filter(({ place }) => place.name === name)
    .map(({ output }) => ('arc' in output && output.arc === 'upTo' ? output.max : 1));
  return Math.max(0, ...counts);
}
