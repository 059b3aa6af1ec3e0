import { omitUndefined } from '../../core/internal.ts';
import { allOf, effect, oneOf } from '../../net/index.ts';
import type { TokenPlace, Transition } from '../../net/index.ts';
import { omitAlternatives } from '../../net/internal.ts';
import { GeneratorRuntime } from '../generator/generator-runtime.ts';
import { findReply } from '../generator/generator-step.ts';
import type { CustomGenerator, CustomReply } from '../generator/yields.ts';
import { UnknownTransferError } from '../transfer/transfer.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import { messageArcs } from '../vocabulary/agent-message.ts';
import { effectInhibitors, stopRequested } from '../vocabulary/control.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { state } from '../vocabulary/state.ts';
import type { Ending } from '../vocabulary/turn.ts';
import { customContext } from './custom-context.ts';
import type { CustomContext } from './custom-context.ts';
import { customBudget, customStep, customTransfer, customWaiting } from './custom-places.ts';
import type { CustomStep } from './custom-places.ts';

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
  const generators = new GeneratorRuntime<CustomStep, CustomContext>({
    identity,
    run,
    extendContext: customContext(identity, names),
    form: {
      name: identity.agentName,
      otherValues: 'message',
      questionsUnsupported:
        'cannot wait for its answer here: ask in a function node of a workflow.',
    },
    findNodeInfo: ({ node }) => node,
  });
  const toAgents = Object.fromEntries(
    names.map((sub) => [
      `target/${sub}`,
      allOf({ start: targetPlace(sub), waiting: customWaiting, ...messageArcs }),
    ]),
  );
  const alternatives = {
    said: allOf({ next: customStep, ...messageArcs }),
    done: allOf({ ending: endPlace, ...messageArcs }),
    stopped: allOf({ stop: stopRequested, ...messageArcs }),
    transfer: allOf({ leaving: customTransfer, ...messageArcs }),
  };
  const stepTransition = effect('custom.step', {
    take: { step: customStep, budget: customBudget },
    read: { conversation, state },
    unless: effectInhibitors,
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
      const { invocationId, round, node } = step;
      const result = await generators.runStep({
        step,
        conversation: items,
        state: entries,
        effect: effectContext,
      });
      const { step: after, outputs } = result;
      switch (result.next) {
        case 'step':
          return { said: { next: after, ...outputs } };
        case 'done':
          return { done: { ending: toEnding(after), ...outputs } };
        case 'endInvocation':
          return { stopped: { stop: { stopReason: 'end_turn' as const }, ...outputs } };
        case 'runSubAgent':
          return startSubAgent(result.subAgent, {
            start: { invocationId, round },
            waiting: after,
            ...outputs,
          });
        case 'transfer': {
          const { to } = result;
          const start = { invocationId, round, ...omitUndefined({ node }) };
          if (names.includes(to))
            return startSubAgent(to, { start, waiting: { ...after, ended: true }, ...outputs });
          if (!targets.includes(to)) throw new UnknownTransferError(to, [...names, ...targets]);
          const escalates = after.escalate === true && { escalate: true };
          return { transfer: { leaving: { ...start, ...escalates, to }, ...outputs } };
        }
        case 'ask':
          throw new Error('A custom agent asked a question, although its form refuses questions.');
        default:
          return result satisfies never;
      }
    },
  });
  return targets.length === 0 ? omitAlternatives(stepTransition, 'transfer') : stepTransition;
}

function startSubAgent(name: string, outputs: object): never {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one of `toAgents`: other names were refused before
  return { [`target/${name}`]: outputs } as never;
}

/** The agent's ending. After a transfer to a sub-agent it has the stop reason of that sub-agent. */
export function toEnding(step: CustomStep): Ending {
  const { invocationId, round, ended, escalate, output, route } = step;
  const reply = ended === true ? findReply(step, step.yielded) : undefined;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the replies of a custom agent are endings
  const last = reply as CustomReply | undefined;
  return {
    stopReason: last?.stopReason ?? 'end_turn',
    invocationId,
    round,
    ...omitUndefined({
      escalate: (escalate ?? last?.escalate) === true ? true : undefined,
      output,
      route,
    }),
  };
}
