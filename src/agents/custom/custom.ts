import { InvalidInputError, checkOptions, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import { all, allOf, append, effect, oneOf, optional, pure, upTo } from '../../net/index.ts';
import type { AllOf, Optional, TokenPlace, Transition } from '../../net/index.ts';
import { COMPOSITE_OPTION_NAMES } from '../composition/composite-definition.ts';
import { hasAfterAgent } from '../callbacks/agent-callbacks.ts';
import { checkAgentName } from '../vocabulary/check-agent-name.ts';
import type { Agent, AgentRole } from '../agent/agent.ts';
import { agentCallers, pushCaller } from '../transfer/agent-returns.ts';
import type { AgentCallers } from '../transfer/agent-returns.ts';
import { composeAgents } from '../composition/compose-agents.ts';
import type { CustomContext } from './custom-context.ts';
import { CustomGeneratorCache, endGenerator } from './custom-generator.ts';
import type { CustomGenerator, CustomReply, CustomYield, SubAgentRun } from './custom-generator.ts';
import { LiveCustomContext } from './live-custom-context.ts';
import {
  customBudget,
  customStep,
  customTransfer,
  customWaiting,
} from './loop-and-custom-places.ts';
import type { CustomStep } from './loop-and-custom-places.ts';
import type { CompositeAgentDefinition } from '../composition/composite-definition.ts';
import { compositeSubnet } from '../composition/composite-subnet.ts';
import { noActions } from '../callbacks/parse-actions.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { donePlace, targetPlace } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { omitCallers } from '../transfer/transfer-router.ts';
import { transferBudget, UnknownTransferError } from '../transfer/transfer.ts';
import { omitAlternatives } from '../vocabulary/omit-outputs.ts';
import { parseYield, yieldMessage } from './parse-yield.ts';
import type { ParsedYield } from './parse-yield.ts';

/** What a custom agent does, which agents it may run, and how far it may go in one turn. */
export interface CustomDefinition extends Omit<CompositeAgentDefinition, 'subAgents'> {
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
  ...COMPOSITE_OPTION_NAMES,
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
    childSlot: (index, { multiAgent }) => ({ multiAgent, done: donePlace(names[index] ?? '') }),
    buildSubnet: (slot) => {
      const foreignTargets = slot.targets
        .map((target) => target.name)
        .filter((target) => !names.includes(target));
      const callers =
        foreignTargets.length > 0 && hasAfterAgent(callbacks ?? {})
          ? slot.returns?.callers
          : undefined;
      return compositeSubnet(
        {
          kind: 'custom',
          name,
          ...(callbacks !== undefined && { callbacks }),
          shared: [
            ...[...names, ...foreignTargets].map(targetPlace),
            ...names.map(donePlace),
            ...(foreignTargets.length > 0 ? [transferBudget] : []),
            ...(callers === undefined ? [] : [callers]),
          ],
          discardable: [
            customStep,
            ...(names.length > 0 ? [customWaiting] : []),
            ...(foreignTargets.length > 0 ? [customTransfer] : []),
          ],
          budgets: [customBudget],
          transitions: (between) => [
            beginTransition(between.startPlace, maxYields),
            stepEffect(definition, names, foreignTargets, between),
            ...names.map(resumeTransition),
            ...transferTransitions(name, foreignTargets, between.endPlace, callers),
            finishTransition(name, maxYields, between.endPlace),
          ],
        },
        slot,
      );
    },
  };
}

function beginTransition(from: TokenPlace<ModelCall>, maxYields: number): Transition {
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

function finishTransition(
  name: string,
  maxYields: number,
  endPlace: TokenPlace<Ending>,
): Transition {
  return pure('custom.finish', {
    take: { step: customStep },
    unless: [customBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: endPlace, events: upTo(1, eventOut) }),
    run: ({ step }) => ({
      ending: { ...toEnding(step), stopReason: 'budget_reached' },
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

function resumeTransition(sub: string): Transition {
  return pure(`custom.resume-${sub}`, {
    take: { waiting: customWaiting, done: donePlace(sub) },
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

type TransferOutputs = AllOf<{
  readonly start: TokenPlace<ModelCall>;
  readonly callers: Optional<AgentCallers>;
}>;

/** Hands the turn to an agent that is none of its own, as often as the turn may be handed over. */
function transferTransitions(
  agentName: string,
  targets: readonly string[],
  endPlace: TokenPlace<Ending>,
  callers: TokenPlace<AgentCallers> | undefined,
): readonly Transition[] {
  if (targets.length === 0) return [];
  const alternatives: Readonly<Record<string, TransferOutputs>> = Object.fromEntries(
    targets.map((name) => [
      `target/${name}`,
      allOf({ start: targetPlace(name), callers: optional(callers ?? agentCallers) }),
    ]),
  );
  const route = pure('custom.transfer', {
    take: {
      leaving: customTransfer,
      budget: transferBudget,
      before: all(callers ?? agentCallers, { min: 0 }),
    },
    unless: [turnStopping],
    give: oneOf(alternatives),
    run: ({ leaving: { to, ...start }, before }) => ({
      [`target/${to}`]: {
        start,
        ...(callers !== undefined && { callers: pushCaller(before, agentName) }),
      },
    }),
  });
  const spend = pure('custom.spend', {
    take: { leaving: customTransfer },
    unless: [transferBudget, turnStopping],
    priority: -1,
    give: allOf({ ending: endPlace, events: upTo(1, eventOut) }),
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
  return [callers === undefined ? omitCallers(route) : route, spend];
}

/** Everything that a step may say and do beside what becomes of the agent. */
const sharedOutputs = {
  said: append(conversation),
  events: upTo(2, eventOut),
  write: upTo(1, sessionWrite),
} as const;

/** Runs the generator to its next yield. */
function stepEffect(
  { run, timeoutMs = DEFAULT_TIMEOUT_MS }: CustomDefinition,
  names: readonly string[],
  targets: readonly string[],
  {
    endPlace,
    identity,
  }: { readonly endPlace: TokenPlace<Ending>; readonly identity: AgentIdentity },
): Transition {
  const generators = new CustomGeneratorCache<LiveCustomContext>();
  const toAgents = Object.fromEntries(
    names.map((sub) => [
      `target/${sub}`,
      allOf({ start: targetPlace(sub), waiting: customWaiting, ...sharedOutputs }),
    ]),
  );
  const own = {
    said: allOf({ next: customStep, ...sharedOutputs }),
    done: allOf({ ending: endPlace, ...sharedOutputs }),
    stopped: allOf({ stop: stopRequested, ...sharedOutputs }),
    transfer: allOf({ leaving: customTransfer, ...sharedOutputs }),
  };
  const stepTransition = effect('custom.step', {
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
      if (at.ended === true) return { done: { ending: toEnding(at), said: [] } };
      const { activation, yielded, invocationId, round, node } = at;
      const { host, signal } = effectContext;
      const stepContext = {
        invocationId,
        conversation: said,
        state: entries,
        effect: effectContext,
      };
      const cached = generators.take(host, activation, yielded);
      const liveContext =
        cached?.liveContext ?? new LiveCustomContext(identity, names, stepContext);
      const generator = cached?.generator ?? run(liveContext.context);
      signal.addEventListener('abort', () => endGenerator(generator), { once: true });
      // What it does on the way to where it stood counts no second time.
      if (cached === undefined) await replayYields(generator, at);
      const opened = liveContext.enterStep(identity, stepContext);
      const next = await generator.next(findReply(at, yielded));
      const subAgent =
        next.done !== true && isSubAgentRun(next.value) ? next.value.runs : undefined;
      const parsed: ParsedYield =
        next.done === true || isSubAgentRun(next.value)
          ? { actions: noActions }
          : parseYield(next.value);
      const { output, actions: requested } = parsed;
      for (const [key, value] of Object.entries(requested.stateDelta))
        opened.context.state.set(key, value);
      const { route, endOfAgent, ...otherShown } = requested.shown;
      opened.act({ ...otherShown, ...(requested.endInvocation && { endInvocation: true }) });
      const { write, actions, artifactDelta: saved } = opened.take();
      const { endInvocation, ...otherActions } = actions;
      const shown = {
        ...(saved !== undefined && { artifactDelta: saved }),
        ...otherActions,
        ...(route !== undefined && { route }),
        ...(endOfAgent === true && { endOfAgent }),
      };
      const outputs = {
        ...yieldMessage(identity, invocationId, { ...parsed, shown, node }),
        write,
      };
      const now: CustomStep = {
        ...at,
        yielded: yielded + 1,
        ...(otherActions.escalate === true && { escalate: true }),
        ...(output !== undefined && { output }),
        ...(route !== undefined && { route }),
      };
      const to = otherActions.transferToAgent;
      if (endInvocation === true || to !== undefined || endOfAgent === true)
        endGenerator(generator);
      if (endInvocation === true)
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } };
      if (to !== undefined) {
        const start = { invocationId, round, ...(node !== undefined && { node }) };
        const waiting = { ...now, ended: true };
        if (names.includes(to)) return startSubAgent(to, { start, waiting, ...outputs });
        if (!targets.includes(to)) throw new UnknownTransferError(to, [...names, ...targets]);
        const escalates = now.escalate === true && { escalate: true };
        return { transfer: { leaving: { ...start, ...escalates, to }, ...outputs } };
      }
      if (next.done === true) return { done: { ending: toEnding(now), ...outputs } };
      if (endOfAgent === true)
        return {
          said: { next: { ...now, ended: true, replies: [...now.replies, null] }, ...outputs },
        };
      generators.keep(host, activation, { generator, liveContext, yielded: yielded + 1 });
      return subAgent === undefined
        ? { said: { next: { ...now, replies: [...now.replies, null] }, ...outputs } }
        : startSubAgent(subAgent, { start: { invocationId, round }, waiting: now, ...outputs });
    },
  });
  return targets.length === 0 ? omitAlternatives(stepTransition, 'transfer') : stepTransition;
}

function startSubAgent(name: string, outputs: object): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of `toAgents`: every other name was refused
  return { [`target/${name}`]: outputs } as never;
}

/** Runs a generator over what it had yielded already. @throws Error when it yields less than it did */
async function replayYields(generator: CustomGenerator, step: CustomStep): Promise<void> {
  for (let index = 0; index < step.yielded; index++) {
    const { done } = await generator.next(findReply(step, index));
    if (done === true)
      throw new Error(
        `It ended after ${index} yields, and had yielded ${step.yielded} before a crash.`,
      );
  }
}

/** What the generator gets back for the yield before this one. */
function findReply({ replies }: CustomStep, yielded: number): CustomReply | undefined {
  return replies[yielded - 1] ?? undefined;
}

function isSubAgentRun(value: CustomYield): value is SubAgentRun {
  return typeof value === 'object' && 'runs' in value;
}

/** How it ended; as the agent it handed the turn to, where it did. */
function toEnding({
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
