import { omitUndefined } from '../../core/internal.ts';
import type { Content } from '../../core/index.ts';
import { toolError } from '../../tools/internal.ts';
import type { Batch, CallResult, Call, ParkedCall } from '../vocabulary/tool-call.ts';

/** Copies the members of a result, without other members of the call. */
export function toCallResult(result: CallResult): CallResult {
  const { invocationId, callId, name, index, outcome, response, actions, node } = result;
  const acted = actions !== undefined && { actions };
  const within = node !== undefined && { node };
  return { invocationId, callId, name, index, outcome, response, ...within, ...acted };
}

/** The call of a parked call, without the members that describe the wait. */
export function toCall(parked: ParkedCall): Call {
  const { invocationId, callId, name, args, index, asks, answer, node } = parked;
  return {
    invocationId,
    callId,
    name,
    args,
    index,
    ...omitUndefined({ node, asks, answer }),
  };
}

/** The message with the results of a batch, in the order of its calls. A call without a result counts as canceled. */
export function toToolMessage(
  batch: Batch,
  results: readonly CallResult[],
): { readonly invocationId: string; readonly content: Content } {
  const byCall = new Map(results.map((result) => [result.callId, result]));
  const parts = batch.calls.map(({ callId, name }) => {
    const result = byCall.get(callId);
    const response =
      result?.response ?? toolError('cancelled', 'The call was cancelled before it had a result.');
    const failed = result?.outcome !== 'ok';
    return {
      functionResponse: {
        id: callId,
        name,
        response,
        ...omitUndefined({ isError: failed ? (true as const) : undefined }),
      },
    };
  });
  return { invocationId: batch.invocationId, content: { role: 'tool', parts } };
}
