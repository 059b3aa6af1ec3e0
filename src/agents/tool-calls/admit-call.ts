import { isPromise, omitUndefined } from '../../core/internal.ts';
import type { FunctionCall, JsonObject } from '../../core/index.ts';
import { callFingerprint, toolError } from '../../tools/internal.ts';
import type { Tool, ToolCallFacts, ValidArgs } from '../../tools/index.ts';
import { MAX_PARALLEL_CALLS, TOO_MANY_CALLS } from './max-parallel-calls.ts';
import type { RequestedCall, Call, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';

/** The decision on a requested call: it runs (`call`), waits (`parked`), or has a result at once (`result`). */
export interface CallAdmission {
  readonly requested: Call;
  readonly call?: Call;
  readonly parked?: ParkedCall;
  readonly result?: CallResult;
}

type CallFacts = Omit<ToolCallFacts, 'callId'>;

/** The call as the model requested it, before validation. */
export function toRequestedCall(
  call: FunctionCall,
  index: number,
  { invocationId }: CallFacts,
): RequestedCall {
  const { id: callId, name, args, argsError } = call;
  return {
    invocationId,
    callId,
    name,
    args,
    index,
    ...omitUndefined({ argsError: argsError?.message }),
  };
}

/** The error result of a call to an unknown tool, or of a call above `MAX_PARALLEL_CALLS`; undefined for any other. */
export function rejectUnknown(
  requested: RequestedCall,
  tools: ReadonlyMap<string, Tool>,
): CallResult | undefined {
  const { name, index } = requested;
  if (!tools.has(name)) {
    const known = [...tools.keys()].join(', ') || '(none)';
    return rejectedResult(
      requested,
      'not_found',
      `There is no tool "${name}". The tools are: ${known}.`,
    );
  }
  return index < MAX_PARALLEL_CALLS
    ? undefined
    : rejectedResult(requested, 'error', TOO_MANY_CALLS);
}

/** Validates a call's arguments, and decides whether it runs now or waits. */
export function admitCall(
  requestedCall: RequestedCall,
  facts: CallFacts,
  tools: ReadonlyMap<string, Tool>,
): CallAdmission {
  const { argsError, ...requested } = requestedCall;
  const { callId, name, args } = requested;
  const reject = (outcome: CallResult['outcome'], message: string): CallAdmission => ({
    requested,
    result: rejectedResult(requested, outcome, message),
  });
  const rejected = rejectUnknown(requested, tools);
  const tool = tools.get(name);
  if (rejected !== undefined || tool === undefined)
    return { requested, ...omitUndefined({ result: rejected }) };
  if (argsError !== undefined)
    return reject('invalid', `${argsError} Correct them and call again.`);
  const parsed = tool.parse(args);
  if (!parsed.ok) return reject('invalid', parsed.message);
  const { external, timeoutMs } = tool;
  let approval: boolean;
  try {
    approval = isApprovalNeeded(tool, parsed.value, { ...facts, callId });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it threw a value that is not an Error';
    return reject('error', `The check whether a person must approve this call failed: ${reason}`);
  }
  if (!approval && !external) return { requested, call: requested };
  const wait = approval
    ? { needs: 'approval' as const }
    : {
        needs: 'result' as const,
        ...omitUndefined({ timeoutMs: timeoutMs === Infinity ? undefined : timeoutMs }),
      };
  return {
    requested,
    parked: { ...requested, ...wait, reason: 'policy', fingerprint: callFingerprint(name, args) },
  };
}

/** The error result of a call that does not run. */
export function rejectedResult(
  { invocationId, callId, name, index, node }: Call,
  outcome: CallResult['outcome'],
  message: string,
): CallResult {
  const response: JsonObject = toolError(outcome, message);
  const within = node !== undefined && { node };
  return { invocationId, callId, name, index, outcome, response, ...within };
}

function isApprovalNeeded(
  { name, needsApproval }: Tool,
  args: ValidArgs,
  call: ToolCallFacts,
): boolean {
  if (typeof needsApproval !== 'function') return needsApproval;
  const needed: unknown = needsApproval(args, call);
  if (!isPromise(needed)) return Boolean(needed);
  // Its rejection would end the process.
  needed.then(undefined, () => {});
  throw new TypeError(
    `needsApproval of tool "${name}" returned a promise, but it must return true or false. Do asynchronous checks in execute.`,
  );
}
