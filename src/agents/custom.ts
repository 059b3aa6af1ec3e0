import { InvalidInputError, checkOptions, optionTable } from '../core/index.ts';
import type { OptionTable } from '../core/index.ts';
import { all, allOf, append, effect, oneOf, optional, pure, upTo } from '../net/index.ts';
import type { AllOf, Optional, TokenPlace, Transition } from '../net/index.ts';
import { FLOW_NAMES } from './flow-definition.ts';
import { hasAfterAgent } from './agent-callbacks.ts';
import { checkAgentName } from './agent-name.ts';
import type { Agent, AgentRole } from './agent.ts';
import { agentCallers, withCaller } from './agent-returns.ts';
import type { AgentCallers } from './agent-returns.ts';
import { composeAgents } from './compose-agents.ts';
import type { CustomContext } from './custom-context.ts';
import { CustomRuns, end } from './custom-runs.ts';
import type { CustomGenerator, CustomReply, CustomYield, SubAgentRun } from './custom-runs.ts';
import { CustomScope } from './custom-scope.ts';
import { customBudget, customStep, customTransfer, customWaiting } from './flow-places.ts';
import type { CustomStep } from './flow-places.ts';
import type { FlowDefinition } from './flow-definition.ts';
import { flowUnit } from './flow-unit.ts';
import { noActions } from './given-actions.ts';
import {
  conversation,
  doneOf,
  eventOut,
  sessionWrite,
  state,
  stopAsked,
  targetOf,
  turnStopping,
} from './places.ts';
import type { Ending, ModelCall } from './places.ts';
import type { Speaking } from './speaking.ts';
import { withoutCallers } from './transfer-router.ts';
import { turnTransfers, UnknownTransferError } from './transfer.ts';
import { withoutAlternatives } from './trimmed-give.ts';
import { parseYield, shownYield } from './given-yield.ts';
import type { GivenYield } from './given-yield.ts';

/** What a custom agent does, which agents it may run, and how far it may go in one turn. */
export interface CustomDefinition extends Omit<FlowDefinition, 'subAgents'> {
  readonly subAgents?: readonly Agent[];
  /**
   * Yields what it says and does: text, content, or `{ content, actions, output }`. It goes on after a yield when that is
   * committed. After a crash it runs again from its beginning, and what it had yielded is skipped: what it does between
   * two yields may happen twice.
   */
  readonly run: (context: CustomContext) => CustomGenerator;
  /** How often it may yield in one turn; 100 unless said. */
  readonly maxYields?: number;
  /** How long it may take between two yields; 5 minutes unless said. */
  readonly timeoutMs?: number;
}

const DEFAULT_MAX_YIELDS = 100;
const DEFAULT_TIMEOUT_MS = 300_000;

/** The options of `custom`. */
export const CUSTOM_OPTIONS: OptionTable = optionTable<CustomDefinition>('custom', {
  ...FLOW_NAMES,
  run: true,
  maxYields: true,
  timeoutMs: true,
});

/**
 * An agent that is a generator: each step between two yields is an effect, each yield a commit.
 * @throws InvalidInputError, NetBuildError
 */
export function custom(definition: CustomDefinition): Agent {
  checkOptions(CUSTOM_OPTIONS, definition);
  const { name, maxYields = DEFAULT_MAX_YIELDS } = definition;
  checkAgentName(name);
  if (!Number.isInteger(maxYields) || maxYields < 1 || maxYields > 10_000)
    throw new InvalidInputError(
      'maxYields',
      `must be a whole number from 1 to 10000; it is ${maxYields}.`,
    );
  return composeAgents(definition, customRole(definition, maxYields));
}

function customRole(definition: CustomDefinition, maxYields: number): AgentRole {
  const { name, subAgents = [], callbacks, extensions = [] } = definition;
  const names = subAgents.map((agent) => agent.name);
  return {
    kind: 'custom',
    subAgents,
    tools: new Map(),
    extensions,
    transfers: { toParent: true, toPeers: true },
    hasAfterAgent: hasAfterAgent(callbacks ?? {}),
    subPlacement: (index, { among }) => ({ among, done: doneOf(names[index] ?? '') }),
    unitAt: (placement) => {
      const outside = placement.targets
        .map((target) => target.name)
        .filter((target) => !names.includes(target));
      const callers =
        outside.length > 0 && hasAfterAgent(callbacks ?? {})
          ? placement.returns?.callers
          : undefined;
      return flowUnit(
        {
          kind: 'custom',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [
            ...[...names, ...outside].map(targetOf),
            ...names.map(doneOf),
            ...(outside.length > 0 ? [turnTransfers] : []),
            ...(callers === undefined ? [] : [callers]),
          ],
          dropped: [
            customStep,
            ...(names.length > 0 ? [customWaiting] : []),
            ...(outside.length > 0 ? [customTransfer] : []),
          ],
          budgets: [customBudget],
          transitions: (between) => [
            begin(between.begins, maxYields),
            step(definition, names, outside, between),
            ...names.map(resume),
            ...transfer(name, outside, between.ends, callers),
            finish(name, maxYields, between.ends),
          ],
        },
        placement,
      );
    },
  };
}

function begin(from: TokenPlace<ModelCall>, maxYields: number): Transition {
  return pure('agent.begin', {
    take: { start: from },
    unless: [turnStopping],
    reset: [customBudget],
    give: allOf({ step: customStep, budget: upTo(maxYields + 1, customBudget) }),
    run: ({ start }, { firingId }) => ({
      step: { ...start, activation: firingId, yielded: 0, replies: [] },
      // One more: the step after the last yield, in which it returns.
      budget: Array.from({ length: maxYields + 1 }, () => null),
    }),
  });
}

function finish(name: string, maxYields: number, ends: TokenPlace<Ending>): Transition {
  return pure('custom.finish', {
    take: { step: customStep },
    unless: [customBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: ends, events: upTo(1, eventOut) }),
    run: ({ step }) => ({
      ending: { ...endingOf(step), stopReason: 'budget_reached' },
      events: [
        {
          type: 'error',
          invocationId: step.invocationId,
          code: 'yield_limit',
          message: `"${name}" yielded ${maxYields} times in one turn and is not done: it was ended.`,
        },
      ],
    }),
  });
}

function resume(sub: string): Transition {
  return pure(`custom.resume-${sub}`, {
    take: { waiting: customWaiting, done: doneOf(sub) },
    unless: [turnStopping],
    give: allOf({ next: customStep }),
    run: ({ waiting, done: { stopReason, escalate, round = waiting.round } }) => ({
      next: {
        ...waiting,
        round,
        replies: [...waiting.replies, { stopReason, ...(escalate === true && { escalate }) }],
      },
    }),
  });
}

type Leaving = AllOf<{
  readonly start: TokenPlace<ModelCall>;
  readonly callers: Optional<AgentCallers>;
}>;

/** Hands the turn to an agent that is none of its own, as often as the turn may be handed over. */
function transfer(
  agentName: string,
  targets: readonly string[],
  ends: TokenPlace<Ending>,
  callers: TokenPlace<AgentCallers> | undefined,
): readonly Transition[] {
  if (targets.length === 0) return [];
  const alternatives: Readonly<Record<string, Leaving>> = Object.fromEntries(
    targets.map((name) => [
      `target/${name}`,
      allOf({ start: targetOf(name), callers: optional(callers ?? agentCallers) }),
    ]),
  );
  const route = pure('custom.transfer', {
    take: {
      leaving: customTransfer,
      budget: turnTransfers,
      before: all(callers ?? agentCallers, { min: 0 }),
    },
    unless: [turnStopping],
    give: oneOf(alternatives),
    run: ({ leaving: { to, ...start }, before }) => ({
      [`target/${to}`]: {
        start,
        ...(callers !== undefined && { callers: withCaller(before, agentName) }),
      },
    }),
  });
  const spend = pure('custom.spend', {
    take: { leaving: customTransfer },
    unless: [turnTransfers, turnStopping],
    priority: -1,
    give: allOf({ ending: ends, events: upTo(1, eventOut) }),
    run: ({ leaving: { to, invocationId, round, escalate } }) => ({
      ending: {
        stopReason: 'budget_reached',
        invocationId,
        round,
        ...(escalate === true && { escalate }),
      },
      events: [
        {
          type: 'error',
          invocationId,
          code: 'transfer_limit',
          message: `The turn was handed over as often as it may be: it was not handed to "${to}". Raise maxTransfers, or find out why it goes round.`,
        },
      ],
    }),
  });
  return [callers === undefined ? withoutCallers(route) : route, spend];
}

/** Everything that a step may say and do beside what becomes of the agent. */
const told = {
  said: append(conversation),
  events: upTo(2, eventOut),
  write: upTo(1, sessionWrite),
} as const;

/** Runs the generator to its next yield. */
function step(
  { run, timeoutMs = DEFAULT_TIMEOUT_MS }: CustomDefinition,
  names: readonly string[],
  targets: readonly string[],
  { ends, speaking }: { readonly ends: TokenPlace<Ending>; readonly speaking: Speaking },
): Transition {
  const runs = new CustomRuns<CustomScope>();
  const toAgents = Object.fromEntries(
    names.map((sub) => [
      `target/${sub}`,
      allOf({ start: targetOf(sub), waiting: customWaiting, ...told }),
    ]),
  );
  const own = {
    said: allOf({ next: customStep, ...told }),
    done: allOf({ ending: ends, ...told }),
    stopped: allOf({ stop: stopAsked, ...told }),
    transfer: allOf({ leaving: customTransfer, ...told }),
  };
  const whole = effect('custom.step', {
    take: { step: customStep, budget: customBudget },
    read: { conversation, state },
    unless: [turnStopping],
    // The agents it may run are known where it is made, and no type can name them.
    give: oneOf<typeof own>({ ...toAgents, ...own }),
    timeoutMs,
    onCrash: 'rerun',
    failed: ({ message }, { step: { invocationId } }) => ({
      stopped: {
        stop: { stopReason: 'error' as const },
        events: [{ type: 'error' as const, invocationId, code: 'agent_failed', message }],
      },
    }),
    run: async ({ step: at, conversation: said, state: entries }, effectContext) => {
      if (at.ended === true) return { done: { ending: endingOf(at), said: [] } };
      const { activation, yielded, invocationId, round, node } = at;
      const { host, signal } = effectContext;
      const here = { invocationId, conversation: said, state: entries, effect: effectContext };
      const kept = runs.take(host, activation, yielded);
      const scope = kept?.scope ?? new CustomScope(speaking, names, here);
      const generator = kept?.generator ?? run(scope.context);
      signal.addEventListener('abort', () => end(generator), { once: true });
      // What it does on the way to where it stood counts no second time.
      if (kept === undefined) await skipped(generator, at);
      const opened = scope.enter(speaking, here);
      const next = await generator.next(replyOf(at, yielded));
      const runsSub = next.done !== true && isRun(next.value) ? next.value.runs : undefined;
      const given: GivenYield =
        next.done === true || isRun(next.value) ? { actions: noActions } : parseYield(next.value);
      const { output, actions: asked } = given;
      for (const [key, value] of Object.entries(asked.stateDelta))
        opened.context.state.set(key, value);
      const { route, endOfAgent, ...acts } = asked.shown;
      opened.act({ ...acts, ...(asked.endInvocation && { endInvocation: true }) });
      const { write, actions, saved } = opened.take();
      const { endInvocation, ...wishes } = actions;
      const shown = {
        ...(saved !== undefined && { artifactDelta: saved }),
        ...wishes,
        ...(route !== undefined && { route }),
        ...(endOfAgent === true && { endOfAgent }),
      };
      const words = {
        ...shownYield(speaking, invocationId, { ...given, shown, node }),
        write,
      };
      const now: CustomStep = {
        ...at,
        yielded: yielded + 1,
        ...(wishes.escalate === true && { escalate: true }),
        ...(output !== undefined && { output }),
        ...(route !== undefined && { route }),
      };
      const to = wishes.transferToAgent;
      if (endInvocation === true || to !== undefined || endOfAgent === true) end(generator);
      if (endInvocation === true)
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...words } };
      if (to !== undefined) {
        const start = { invocationId, round, ...(node !== undefined && { node }) };
        const waiting = { ...now, ended: true };
        if (names.includes(to)) return toAgent(to, { start, waiting, ...words });
        if (!targets.includes(to)) throw new UnknownTransferError(to, [...names, ...targets]);
        const escalates = now.escalate === true && { escalate: true };
        return { transfer: { leaving: { ...start, ...escalates, to }, ...words } };
      }
      if (next.done === true) return { done: { ending: endingOf(now), ...words } };
      if (endOfAgent === true)
        return {
          said: { next: { ...now, ended: true, replies: [...now.replies, null] }, ...words },
        };
      runs.keep(host, activation, { generator, scope, yielded: yielded + 1 });
      return runsSub === undefined
        ? { said: { next: { ...now, replies: [...now.replies, null] }, ...words } }
        : toAgent(runsSub, { start: { invocationId, round }, waiting: now, ...words });
    },
  });
  return targets.length === 0 ? withoutAlternatives(whole, 'transfer') : whole;
}

function toAgent(name: string, given: object): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of `toAgents`: every other name was refused
  return { [`target/${name}`]: given } as never;
}

/** Runs a generator over what it had yielded already. @throws Error when it yields less than it did */
async function skipped(generator: CustomGenerator, at: CustomStep): Promise<void> {
  for (let index = 0; index < at.yielded; index++) {
    const { done } = await generator.next(replyOf(at, index));
    if (done === true)
      throw new Error(
        `It ended after ${index} yields, and had yielded ${at.yielded} before a crash.`,
      );
  }
}

/** What the generator gets back for the yield before this one. */
function replyOf({ replies }: CustomStep, yielded: number): CustomReply | undefined {
  return replies[yielded - 1] ?? undefined;
}

function isRun(value: CustomYield): value is SubAgentRun {
  return typeof value === 'object' && 'runs' in value;
}

/** How it ended; as the agent it handed the turn to, where it did. */
function endingOf({
  invocationId,
  round,
  replies,
  ended,
  output,
  route,
  ...step
}: CustomStep): Ending {
  const last = ended === true ? replies.at(-1) : undefined;
  return {
    stopReason: last?.stopReason ?? 'end_turn',
    invocationId,
    round,
    ...((step.escalate ?? last?.escalate) === true && { escalate: true }),
    ...(output !== undefined && { output }),
    ...(route !== undefined && { route }),
  };
}
