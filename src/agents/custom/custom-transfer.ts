import { omitUndefined } from '../../core/internal.ts';
import { all, allOf, oneOf, optional, pure, upTo } from '../../net/index.ts';
import type { AllOf, Optional, TokenPlace, Transition } from '../../net/index.ts';
import { agentCallers, pushCaller } from '../transfer/agent-returns.ts';
import type { AgentCallers } from '../transfer/agent-returns.ts';
import { omitCallers } from '../transfer/transfer-router.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import { eventOut } from '../vocabulary/messages.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { Ending } from '../vocabulary/turn.ts';
import { customTransfer } from './custom-places.ts';

type TransferOutputs = AllOf<{
  readonly start: TokenPlace<ModelCall>;
  readonly callers: Optional<AgentCallers>;
}>;

/** The transitions that transfer the turn to an agent that is not a sub-agent, within the transfer budget. */
export function transferTransitions(
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
        ...omitUndefined({
          callers: callers === undefined ? undefined : pushCaller(before, agentName),
        }),
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
        ...omitUndefined({ escalate: escalate === true ? escalate : undefined }),
      },
      events: [
        {
          type: 'error',
          invocationId,
          /**
           * The agents of one turn transferred more often than `maxTransfers` allows. A model is asked to answer
           * itself; a custom agent ends its turn.
           * @remedy Raise `maxTransfers`, or find out why the agents keep transferring.
           */
          code: 'transfer_limit',
          message: `Transfer limit reached: the turn was not transferred to "${to}". Raise maxTransfers, or find out why the agents keep transferring.`,
        },
      ],
    }),
  });
  return [callers === undefined ? omitCallers(route) : route, spend];
}
