import { omitUndefined } from '../../core/internal.ts';
import { allOf, append, effect, oneOf, upTo } from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import type { CustomContext } from './custom-context.ts';
import { CustomGeneratorCache, endGenerator } from './custom-generator.ts';
import type { CustomGenerator, CustomReply, CustomYield, SubAgentRun } from './custom-generator.ts';
import { LiveCustomContext } from './live-custom-context.ts';
import { customBudget, customStep, customTransfer, customWaiting } from './custom-places.ts';
import type { CustomStep } from './custom-places.ts';
import { noActions } from '../callbacks/parse-actions.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { stopRequested, turnStopping } from '../vocabulary/control.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { UnknownTransferError } from '../transfer/transfer.ts';
import { omitAlternatives } from '../../net/internal.ts';
import { parseYield, yieldMessage } from './parse-yield.ts';
import type { ParsedYield } from './parse-yield.ts';

/** The members of a custom agent's definition that its steps use. */
export interface CustomStepDefinition {
  /**
   * Yields text, content, `{ content, actions, output }`, or the run of a sub-agent. It resumes after a yield when that
   * yield is committed. After a crash it runs again from its beginning and the yields it had made are skipped, so code
   * between two yields may run twice.
   */
  readonly run: (context: CustomContext) => CustomGenerator;
  /** How long a step between two yields may take, in milliseconds. Default: 5 minutes. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 300_000;

/** The outputs that every alternative of a step has: conversation, log and state. */
const sharedOutputs = {
  said: append(conversation),
  events: upTo(2, eventOut),
  write: upTo(1, sessionWrite),
} as const;

/** The effect that runs the generator to its next yield. */
export function stepEffect(
  { run, timeoutMs = DEFAULT_TIMEOUT_MS }: CustomStepDefinition,
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
  const alternatives = {
    said: allOf({ next: customStep, ...sharedOutputs }),
    done: allOf({ ending: endPlace, ...sharedOutputs }),
    stopped: allOf({ stop: stopRequested, ...sharedOutputs }),
    transfer: allOf({ leaving: customTransfer, ...sharedOutputs }),
  };
  const stepTransition = effect('custom.step', {
    take: { step: customStep, budget: customBudget },
    read: { conversation, state },
    unless: [turnStopping],
    // The names of the sub-agents are known only at run time, so their alternatives are not in the type.
    give: oneOf<typeof alternatives>({ ...toAgents, ...alternatives }),
    timeoutMs,
    onCrash: 'rerun',
    failed: ({ message }, { step: { invocationId } }) => ({
      stopped: {
        stop: { stopReason: 'error' as const },
        events: [
          {
            type: 'error' as const,
            invocationId,
            /**
             * The generator of a custom agent threw, took too long, or made other yields than before a crash.
             * @remedy Correct the generator. Make it deterministic between yields.
             */
            code: 'agent_failed',
            message,
          },
        ],
      },
    }),
    run: async ({ step, conversation: items, state: entries }, effectContext) => {
      if (step.ended === true) return { done: { ending: toEnding(step), said: [] } };
      const { activation, yielded, invocationId, round, node } = step;
      const { host, signal } = effectContext;
      const stepContext = {
        invocationId,
        conversation: items,
        state: entries,
        effect: effectContext,
      };
      const cached = generators.take(host, activation, yielded);
      const liveContext =
        cached?.liveContext ?? new LiveCustomContext(identity, names, stepContext);
      const generator = cached?.generator ?? run(liveContext.context);
      signal.addEventListener('abort', () => endGenerator(generator), { once: true });
      // The replay uses the context opened above. Its writes and actions were committed before, so they are dropped: a
      // new step is opened afterwards.
      if (cached === undefined) await replayYields(generator, step);
      const opened = liveContext.enterStep(identity, stepContext);
      const next = await generator.next(findReply(step, yielded));
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
      opened.act({
        ...otherShown,
        ...omitUndefined({ endInvocation: requested.endInvocation ? true : undefined }),
      });
      const { write, actions, artifactDelta: saved } = opened.take();
      const { endInvocation, ...otherActions } = actions;
      const shown = {
        ...omitUndefined({ artifactDelta: saved }),
        ...otherActions,
        ...omitUndefined({ route, endOfAgent: endOfAgent === true ? endOfAgent : undefined }),
      };
      const outputs = {
        ...yieldMessage(identity, invocationId, { ...parsed, shown, node }),
        write,
      };
      const nextStep: CustomStep = {
        ...step,
        yielded: yielded + 1,
        ...omitUndefined({
          escalate: otherActions.escalate === true ? true : undefined,
          output,
          route,
        }),
      };
      const to = otherActions.transferToAgent;
      if (endInvocation === true || to !== undefined || endOfAgent === true)
        endGenerator(generator);
      if (endInvocation === true)
        return { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } };
      if (to !== undefined) {
        const start = { invocationId, round, ...omitUndefined({ node }) };
        const waiting = { ...nextStep, ended: true };
        if (names.includes(to)) return startSubAgent(to, { start, waiting, ...outputs });
        if (!targets.includes(to)) throw new UnknownTransferError(to, [...names, ...targets]);
        const escalates = nextStep.escalate === true && { escalate: true };
        return { transfer: { leaving: { ...start, ...escalates, to }, ...outputs } };
      }
      if (next.done === true) return { done: { ending: toEnding(nextStep), ...outputs } };
      if (endOfAgent === true)
        return {
          said: {
            next: { ...nextStep, ended: true, replies: [...nextStep.replies, null] },
            ...outputs,
          },
        };
      generators.keep(host, activation, { generator, liveContext, yielded: yielded + 1 });
      return subAgent === undefined
        ? { said: { next: { ...nextStep, replies: [...nextStep.replies, null] }, ...outputs } }
        : startSubAgent(subAgent, {
            start: { invocationId, round },
            waiting: nextStep,
            ...outputs,
          });
    },
  });
  return targets.length === 0 ? omitAlternatives(stepTransition, 'transfer') : stepTransition;
}

function startSubAgent(name: string, outputs: object): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of `toAgents`: other names were refused before
  return { [`target/${name}`]: outputs } as never;
}

/**
 * Runs a new generator through the yields that were made before a crash.
 * @throws Error when it ends after fewer yields than before
 */
async function replayYields(generator: CustomGenerator, step: CustomStep): Promise<void> {
  for (let index = 0; index < step.yielded; index++) {
    const { done } = await generator.next(findReply(step, index));
    if (done === true)
      throw new Error(
        `The generator ended after ${index} yields, but had yielded ${step.yielded} times before a crash. Make it deterministic between yields.`,
      );
  }
}

/** The reply to the last of the first `yielded` yields. */
function findReply({ replies }: CustomStep, yielded: number): CustomReply | undefined {
  return replies[yielded - 1] ?? undefined;
}

function isSubAgentRun(value: CustomYield): value is SubAgentRun {
  return typeof value === 'object' && 'runs' in value;
}

/** The agent's ending. After a transfer to a sub-agent it has the stop reason of that sub-agent. */
export function toEnding({
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
    ...omitUndefined({
      escalate: (step.escalate ?? last?.escalate) === true ? true : undefined,
      output,
      route,
    }),
  };
}
