import { omitUndefined } from '../../core/internal.ts';
import { TRANSFER_TOOL } from '../../tools/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import { all, allOf, append, net, oneOf, optional, pure, upTo } from '../../net/index.ts';
import type {
  AllOf,
  Append,
  Net,
  Optional,
  TokenPlace,
  Transition,
  UpTo,
} from '../../net/index.ts';
import { agentCallers, pushCaller } from './agent-returns.ts';
import type { AgentCallers } from './agent-returns.ts';
import { toToolMessage } from '../tool-calls/call-result.ts';
import { rejectedResult } from '../tool-calls/admit-call.ts';
import { MAX_PARALLEL_CALLS } from '../tool-calls/max-parallel-calls.ts';
import { TRANSFER_RESULT } from '../prompt/prompt-identity.ts';
import { isIdentified } from '../vocabulary/agent-host.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { toolBatch, toolResult } from '../vocabulary/tool-call.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { CallResult } from '../vocabulary/tool-call.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import { toConversationItem } from '../vocabulary/agent-identity.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import {
  nextModelCall,
  targetUnknown,
  turnTransfer,
  transferBudget,
  UnknownTransferError,
} from './transfer.ts';
import type { Transfer, TransferTarget } from './transfer.ts';
import { omitOutputs } from '../../net/internal.ts';

/** Options of `transferRouter`. */
export interface TransferRouterOptions extends AgentIdentity {
  /** The agents that this agent may transfer the turn to. Any other name goes to `target/unknown`. */
  readonly targets: readonly TransferTarget[];
  /** The place that records this agent as a caller, if it has `afterAgent` callbacks. */
  readonly callers?: TokenPlace<AgentCallers>;
}

type TransferOutputs = Readonly<
  Record<
    string,
    | TokenPlace<Transfer>
    | AllOf<{
        readonly start: TokenPlace<ModelCall>;
        readonly said: Append<ConversationItem>;
        readonly events: UpTo<LogEntry>;
        readonly callers: Optional<AgentCallers>;
      }>
  >
>;

/**
 * Transfers the turn to one of the targets, within the turn's transfer budget. For an unknown name, or when the budget
 * is used up, it logs an error and gives the model an error result; the model is then called again.
 */
export function transferRouter(options: TransferRouterOptions): Net {
  const { targets, callers } = options;
  const names = targets.map(({ name }) => name);
  const known: TransferOutputs = Object.fromEntries(
    names.map((name) => [
      `target/${name}`,
      allOf({
        start: targetPlace(name),
        said: append(conversation),
        events: upTo(1, eventOut),
        callers: optional(callers ?? agentCallers),
      }),
    ]),
  );
  const alternatives: TransferOutputs = { ...known, unknown: targetUnknown };
  const route = pure('transfer.route', {
    take: {
      transfer: turnTransfer,
      budget: transferBudget,
      before: all(callers ?? agentCallers, { min: 0 }),
    },
    unless: [turnStopping],
    give: oneOf(alternatives),
    run: ({ transfer, before }, { host }) => {
      const { to, batch } = transfer;
      if (!names.includes(to)) {
        const { code, message } = new UnknownTransferError(to, names);
        return { unknown: { ...transfer, refusal: { code, message } } };
      }
      const done = transferResult(transfer, (call) => ({
        ...call,
        outcome: 'ok',
        response: {
          result: isIdentified(host, options.agentName) ? TRANSFER_RESULT : `Transferred to ${to}.`,
        },
        actions: { transferToAgent: to },
      }));
      return {
        [`target/${to}`]: {
          start: nextModelCall(batch),
          said: [toConversationItem(options, toToolMessage(batch, [...transfer.results, ...done]))],
          events: done.map((result) => resultEvent(options, result)),
          ...omitUndefined({
            callers: callers === undefined ? undefined : pushCaller(before, options.agentName),
          }),
        },
      };
    },
  });

  const spend = pure('transfer.spend', {
    take: { transfer: turnTransfer },
    unless: [transferBudget, turnStopping],
    priority: -1,
    give: oneOf({ unknown: targetUnknown }),
    run: ({ transfer }) => {
      const message = 'Transfer limit reached. Answer the user yourself.';
      return { unknown: { ...transfer, refusal: { code: 'transfer_limit', message } } };
    },
  });

  const refuse = pure('transfer.refuse', {
    take: { transfer: targetUnknown },
    unless: [turnStopping],
    give: allOf({
      batch: toolBatch,
      results: upTo(MAX_PARALLEL_CALLS, toolResult),
      events: upTo(2, eventOut),
    }),
    run: ({ transfer }) => {
      const { invocationId, batch, refusal } = transfer;
      const { code, message } = refusal ?? { code: 'transfer_unknown', message: 'No such agent.' };
      const answered = transferResult(transfer, (call) =>
        rejectedResult({ ...call, args: {} }, 'not_found', message),
      );
      return {
        batch,
        results: [...transfer.results.map(omitTransfer), ...answered],
        events: [
          { type: 'error', invocationId, code, message },
          ...answered.map((result) => resultEvent(options, result)),
        ],
      };
    },
  });

  return net('transfer-router', {
    in: {
      turnTransfer,
      targetUnknown,
      turnTransfers: transferBudget,
      turnStopping,
      ...omitUndefined({ callers }),
    },
    out: {
      ...omitUndefined({ callers }),
      ...Object.fromEntries(names.map((name) => [`target/${name}`, targetPlace(name)])),
      targetUnknown,
      toolBatch,
      toolResult,
      conversation,
      eventOut,
    },
    transitions: [callers === undefined ? omitCallers(route) : route, spend, refuse],
  });
}

/** The transition without callers, for an agent without `afterAgent` callbacks. */
export function omitCallers(route: Transition): Transition {
  const { before: _, ...take } = route.take;
  return { ...omitOutputs(route, 'callers'), take };
}

/** The result of the model's transfer call; none if a tool or callback requested the transfer. */
function transferResult(
  { invocationId, batch, callId }: Transfer,
  answer: (call: Pick<CallResult, 'invocationId' | 'callId' | 'name' | 'index'>) => CallResult,
): readonly CallResult[] {
  if (callId === undefined) return [];
  const index = batch.calls.findIndex((call) => call.callId === callId);
  return [answer({ invocationId, callId, name: TRANSFER_TOOL, index })];
}

// The transfer was refused. Without its action, the next round does not request it again.
function omitTransfer({ actions, ...result }: CallResult): CallResult {
  if (actions === undefined) return result;
  const { transferToAgent: _, ...rest } = actions;
  return Object.keys(rest).length === 0 ? result : { ...result, actions: rest };
}
