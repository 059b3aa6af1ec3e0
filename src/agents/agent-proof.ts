import { deadlockFree, placeBound, reaskBudgetIsBounded } from '../verify/index.ts';
import type { Bounds, Property, Resting } from '../verify/index.ts';
import type { Agent } from './agent.ts';
import {
  answerIn,
  rewindIn,
  toolBatch,
  toolParked,
  toolResult,
  turnBudget,
  turnCurrent,
  turnPermit,
  turnWaiting,
  userIn,
} from './places.ts';

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
  readonly resting?: readonly string[];
}

/** What is proved of an agent, and over what. */
export interface AgentProof {
  /** By a short name: `deadlockFree`, `oneTurn`, `reaskBudgetIsBounded`. One whose places the net has not is left out. */
  readonly properties: Readonly<Record<string, Property>>;
  readonly bounds: Bounds;
}

const MODEL_CALL = 'model.ask';
const DEFAULT_AT_ONCE = 2;
const DEFAULT_STATES = 1_000_000;

/**
 * What every agent promises, whatever it is made of: it rests only between turns or while calls wait for an answer,
 * one turn runs at a time, and a turn asks the model again no more often than its budget says.
 */
export function agentProof(agent: Agent, limits: AgentProofLimits = {}): AgentProof {
  const { messages = 1, atOnce = DEFAULT_AT_ONCE, faults = 1, shutdowns = false } = limits;
  const { places, byName } = agent.compiled;
  const has = (...of: readonly { readonly name: string }[]): boolean =>
    of.every(({ name }) => places.has(name));
  const budget = Math.min(atOnce, budgetOf(agent));
  return {
    properties: {
      deadlockFree: deadlockFree(restingOf(agent, limits.resting ?? [])),
      ...(has(turnPermit, turnCurrent) && {
        oneTurn: placeBound([turnPermit.name, turnCurrent.name], 1),
      }),
      ...(byName.has(MODEL_CALL) &&
        has(userIn, turnBudget) && {
          reaskBudgetIsBounded: reaskBudgetIsBounded({ ask: MODEL_CALL, budget, per: userIn.name }),
        }),
    },
    bounds: {
      environment: has(userIn) ? { [userIn.name]: messages } : {},
      upTo: atOnce,
      faults,
      shutdowns,
      states: limits.states ?? DEFAULT_STATES,
    },
  };
}

function restingOf({ compiled }: Agent, more: readonly string[]): readonly Resting[] {
  const known = (...of: readonly { readonly name: string }[]): readonly string[] =>
    of.map(({ name }) => name).filter((name) => compiled.places.has(name));
  const idle = { marked: known(turnPermit), allowed: [...known(answerIn), ...more] };
  const waiting = {
    marked: known(turnCurrent, turnWaiting, toolParked, toolBatch),
    allowed: [...known(turnBudget, toolResult, answerIn, userIn, rewindIn), ...more],
  };
  return waiting.marked.length === 4 ? [idle, waiting] : [idle];
}

/** The most tokens that a firing puts in the re-ask budget; 0 when none does. */
function budgetOf({ compiled }: Agent): number {
  const given = compiled.transitions
    .flatMap(({ alternatives }) => [...alternatives.values()])
    .flatMap(({ outputs }) => outputs)
    .filter(({ place }) => place.name === turnBudget.name)
    .map(({ output }) => ('arc' in output && output.arc === 'upTo' ? output.max : 1));
  return Math.max(0, ...given);
}
