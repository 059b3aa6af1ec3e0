import type { CompiledNet } from '../../net/index.ts';
import { isInAnyScope } from '../../net/internal.ts';
import type { QuiescentMarking } from '../../verify/index.ts';
import { customBudget, customWaiting } from '../custom/custom-places.ts';
import { loopBudget } from '../kinds/loop.ts';
import {
  outcomeActive,
  outcomeIn,
  outcomeNext,
  outcomeRound,
  outcomeWaiting,
} from '../outcomes/outcome-places.ts';
import { agentCallers } from '../transfer/agent-returns.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { pendingContent } from '../vocabulary/appended-event.ts';
import { rewindIn } from '../vocabulary/control.ts';
import { answerIn, userIn } from '../vocabulary/messages.ts';
import { sessionPrompt } from '../vocabulary/prompt-format.ts';
import {
  sessionArchived,
  sessionCompleted,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from '../vocabulary/session.ts';
import { toolBatch, toolParked, toolResult } from '../vocabulary/tool-call.ts';
import { turnBudget, turnCurrent, turnPermit, turnWaiting } from '../vocabulary/turn.ts';
import { workflowBudget, workflowRun } from '../workflow/workflow-places.ts';

/** The outcome of a session and its rounds, which remain between turns. */
const outcome = [outcomeActive, outcomeRound];
/** Outcomes that messages come before. */
const queuedOutcomes = [outcomeWaiting, outcomeNext];

/**
 * The markings in which the net of a session may be quiescent: between turns, paused, completed or archived; and in a turn
 * while calls wait for an answer, or while a pause holds what would start.
 * @param more places that may hold tokens in each of them
 */
export function listRestingMarkings(
  compiled: CompiledNet,
  more: readonly string[],
): readonly QuiescentMarking[] {
  const { places } = compiled;
  const names = [...places.keys()];
  const known = (...of: readonly { readonly name: string }[]): readonly string[] =>
    of.map(({ name }) => name).filter((name) => places.has(name));
  const allNamed = (...of: readonly { readonly name: string }[]): readonly string[] =>
    of.flatMap(({ name }) => names.filter((full) => isInAnyScope(full, name)));
  const standing = [
    ...known(answerIn, sessionQueued, sessionFailed, sessionPrompt, ...outcome),
    ...more,
  ];
  const unserved = [...standing, ...known(userIn, rewindIn, outcomeIn, ...queuedOutcomes)];
  const between: readonly QuiescentMarking[] = [
    { marked: known(turnPermit), allowed: standing },
    ...known(sessionPaused).map((paused) => ({
      marked: [...known(turnPermit), paused],
      allowed: [...standing, ...known(userIn, outcomeWaiting)],
    })),
    ...known(sessionArchived, sessionCompleted).map((closed) => ({
      marked: [closed],
      allowed: unserved,
    })),
  ];
  const inTurn = known(turnCurrent, turnWaiting);
  if (inTurn.length < 2) return between;
  const parked = allNamed(toolParked);
  const paused = listPaused(compiled);
  const held = [
    ...parked,
    ...allNamed(toolBatch),
    ...allNamed(turnBudget, toolResult, loopBudget, customBudget, customWaiting, agentCallers),
    ...allNamed(workflowRun, workflowBudget),
    ...names.filter((name) => name.startsWith('done/') || isNodeQuiescent(name, names)),
    ...known(transferBudget, answerIn, userIn, rewindIn, sessionPrompt),
    ...known(...outcome, ...queuedOutcomes, pendingContent),
    ...more,
  ];
  const heldByPause = [...new Set(paused.flat())];
  return [
    ...between,
    ...parked.map((place) => {
      const owner = place.slice(0, -toolParked.name.length);
      const owned = [`${owner}${toolBatch.name}`, `${owner}${workflowRun.name}`];
      return {
        marked: [...inTurn, place, ...names.filter((name) => owned.includes(name))],
        allowed: [...held, ...known(sessionPaused)],
      };
    }),
    ...paused.map((inputs) => ({
      marked: [...known(turnCurrent, sessionPaused), ...inputs],
      allowed: [...held, ...known(turnWaiting), ...heldByPause],
    })),
  ];
}

/** What a pause holds in a turn: for each transition that it inhibits, the places from which the transition takes. */
function listPaused({ transitions }: CompiledNet): readonly (readonly string[])[] {
  const held = transitions
    .filter(({ unless }) => unless.some(({ name }) => name === sessionPaused.name))
    .map(({ takes }) => takes.filter(({ mode }) => mode !== 'all').map(({ place }) => place))
    .filter((inputs) => !inputs.includes(turnPermit.name));
  const keys = held.map((inputs) => inputs.join());
  return held.filter((_, index) => keys.indexOf(keys[index] ?? '') === index);
}

/** True for places of workflow nodes that wait for an agent or for the other inputs of a join, or that queue behind them. */
function isNodeQuiescent(name: string, names: readonly string[]): boolean {
  return (
    /\/node\.(?:waiting-|.*-from-)/.test(name) ||
    (name.includes('/node.ready-') &&
      names.includes(name.replace('/node.ready-', '/node.waiting-')))
  );
}
