import { omitUndefined } from '../../core/internal.ts';
import type { Json, NodeInfo, Route, StateWrites } from '../../core/index.ts';
import type { OpenedCallbackContext } from '../callbacks/callback-context.ts';
import { agentMessage } from '../vocabulary/agent-message.ts';
import type { MessageTokens } from '../vocabulary/agent-message.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import type { GeneratorStep } from './generator-step.ts';
import type { StepInputs } from './live-context.ts';
import { textContent } from './parse-yield.ts';
import type { ParsedYield } from './parse-yield.ts';
import type { RequestInput } from './yields.ts';

/** What the yields of a function become. */
export interface YieldRules<Step extends GeneratorStep> {
  /** The author of the messages. */
  readonly identity: AgentIdentity;
  /** The `nodeInfo` of the messages. */
  readonly findNodeInfo: (step: Step) => NodeInfo | undefined;
  /** Validates and converts an output. Throws to reject it. */
  readonly parseOutput?: (output: Json, step: Step) => Json;
  /** Whether the log shows the output. Default: true. */
  readonly logsOutput?: boolean;
  /** Whether the output of a function that is done with this route is shown as its message. */
  readonly showsOutput?: (route: Route | undefined) => boolean;
  /** Throws when the function may not write these values to state. */
  readonly checkState?: ((writes: StateWrites) => void) | undefined;
}

/** What a step gives to the conversation, the log and state. */
export interface StepOutputs extends MessageTokens {
  readonly write: readonly SessionWrite[];
}

/** What follows a step of a generator. */
export type StepResult<Step> = {
  /** The progress after the step. */
  readonly step: Step;
  readonly outputs: StepOutputs;
} & (
  | { readonly next: 'step' | 'done' | 'endInvocation' }
  | { readonly next: 'transfer'; readonly to: string }
  | { readonly next: 'runSubAgent'; readonly subAgent: string }
  | { readonly next: 'ask'; readonly callId: string; readonly question: RequestInput }
);

/**
 * Applies a yield to the step's state and actions, and returns what the step gives and what follows it.
 * @throws errors of `parseOutput` and `checkState`
 */
export function applyYield<Step extends GeneratorStep>(
  rules: YieldRules<Step>,
  { step: before, effect }: StepInputs<Step>,
  opened: OpenedCallbackContext,
  { content, stateDelta, actions: requested, question, runs, ...parsed }: ParsedYield,
  hasReturned: boolean,
  yielded: number,
): StepResult<Step> {
  const { identity, parseOutput, logsOutput = true, showsOutput, checkState } = rules;
  const output =
    parsed.output === undefined
      ? undefined
      : (parseOutput?.(parsed.output, before) ?? parsed.output);
  for (const [key, value] of Object.entries(stateDelta)) opened.context.state.set(key, value);
  const { endOfAgent, ...actions } = requested;
  opened.act(actions);
  const { write, actions: taken, artifactDelta } = opened.take();
  for (const { writes } of write) checkState?.(writes);
  const { endInvocation = parsed.endInvocation, ...acted } = taken;
  const { escalate, transferToAgent: to } = acted;
  const step: Step = {
    ...before,
    yielded,
    ...omitUndefined({
      escalate: escalate === true ? escalate : undefined,
      output,
      route: parsed.route,
    }),
  };
  const isDone = hasReturned || endOfAgent === true;
  const isShown =
    isDone && question === undefined && step.output !== undefined && showsOutput?.(step.route);
  const shownActions = {
    ...acted,
    ...omitUndefined({ artifactDelta, route: parsed.route, endOfAgent }),
  };
  const outputs = {
    ...agentMessage(
      identity,
      before.invocationId,
      content ?? (isShown === true ? textContent(step.output ?? null) : undefined),
      {
        output: logsOutput ? output : undefined,
        actions: Object.keys(shownActions).length > 0 ? shownActions : undefined,
        nodeInfo: rules.findNodeInfo(before),
      },
    ),
    write,
  };
  const result = { step, outputs };
  if (endInvocation) return { ...result, next: 'endInvocation' };
  if (to !== undefined) return { ...result, next: 'transfer', to };
  if (question !== undefined) {
    const callId = question.interruptId ?? `input-${effect.firingId}`;
    return { ...result, next: 'ask', callId, question };
  }
  if (isDone) return { ...result, next: 'done' };
  return runs === undefined
    ? { ...result, next: 'step' }
    : { ...result, next: 'runSubAgent', subAgent: runs };
}
