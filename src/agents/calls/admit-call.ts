import type { FunctionCall, JsonObject } from '../../core/index.ts';
import { callFingerprint } from '../../tools/tool/call-fingerprint.ts';
import { toolError } from '../../tools/tool/tool-response.ts';
import type { Tool, ToolCallFacts, ValidArgs } from '../../tools/index.ts';
import type { RequestedCall, Call, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';

/** More calls than this in one answer are answered with an error each. */
export const MAX_PARALLEL_CALLS = 64;

/** What becomes of a call: it runs, it waits for someone, or it is answered at once. */
export interface CallAdmission {
  readonly requested: Call;
  readonly call?: Call;
  readonly parked?: ParkedCall;
  readonly result?: CallResult;
}

type CallFacts = Omit<ToolCallFacts, 'callId'>;

/** A call as the model made it. */
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
    ...(argsError !== undefined && { argsError: argsError.message }),
  };
}

/** An answer to a call that cannot be made at all: nobody need look at it. */
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
  if (index < MAX_PARALLEL_CALLS) return undefined;
  const message = `Too many calls in one answer: only the first ${MAX_PARALLEL_CALLS} were run. Call this one again.`;
  return rejectedResult(requested, 'error', message);
}

/** Checks a call's arguments, and whether it may run now. */
export function admitCall(
  requestedCall: RequestedCall,
  facts: CallFacts,
  tools: ReadonlyMap<string, Tool>,
): CallAdmission {
  const { argsError, ...asked } = requestedCall;
  const { callId, name, args } = asked;
  const reject = (outcome: CallResult['outcome'], message: string): CallAdmission => ({
    requested: asked,
    result: rejectedResult(asked, outcome, message),
  });
  const rejected = rejectUnknown(asked, tools);
  const tool = tools.get(name);
  if (rejected !== undefined || tool === undefined)
    return { requested: asked, ...(rejected !== undefined && { result: rejected }) };
  if (argsError !== undefined)
    return reject('invalid', `${argsError} Correct them and call again.`);
  const parsed = tool.parse(args);
  if (!parsed.ok) return reject('invalid', parsed.message);
  const { external, timeoutMs } = tool;
  let approval: boolean;
  try {
    approval = isApprovalNeeded(tool, parsed.value, { ...facts, callId });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it threw something that is no error';
    return reject('error', `Whether a person must approve this could not be decided: ${why}`);
  }
  if (!approval && !external) return { requested: asked, call: asked };
  const wait = approval ? { needs: 'approval' as const } : { needs: 'result' as const, timeoutMs };
  return {
    requested: asked,
    parked: { ...asked, ...wait, reason: 'policy', fingerprint: callFingerprint(name, args) },
  };
}

/** A call answered without being made. */
export function rejectedResult(
  { invocationId, callId, name, index, node }: Call,
  outcome: CallResult['outcome'],
  message: string,
): CallResult {
  const response: JsonObject = toolError(outcome, message);
  const within = node !== undefined && { node };
  return { invocationId, callId, name, index, outcome, response, ...within };
}

function isApprovalNeeded({ needsApproval }: Tool, args: ValidArgs, call: ToolCallFacts): boolean {
  return typeof needsApproval === 'function' ? needsApproval(args, call) : needsApproval;
}
