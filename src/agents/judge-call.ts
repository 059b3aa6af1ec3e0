import type { FunctionCall, JsonObject, LogEntry } from '../core/index.ts';
import { fingerprintOf } from '../tools/fingerprint.ts';
import { toolError } from '../tools/tool-response.ts';
import type { Tool, ToolCallFacts, ValidArgs } from '../tools/index.ts';
import type { AskedCall, Call, CallResult, ParkedCall } from './places.ts';
import { resultEvent } from './result-event.ts';
import { branchOf } from './speaking.ts';
import type { Speaking } from './speaking.ts';

/** More calls than this in one answer are answered with an error each. */
export const MAX_PARALLEL_CALLS = 64;

/** What becomes of a call: it runs, it waits for someone, or it is answered at once. */
export interface Judged {
  readonly asked: Call;
  readonly call?: Call;
  readonly parked?: ParkedCall;
  readonly result?: CallResult;
}

type Facts = Omit<ToolCallFacts, 'callId'>;

/** A call as the model made it. */
export function askedCallOf(call: FunctionCall, index: number, { invocationId }: Facts): AskedCall {
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
export function refusedAtOnce(
  asked: AskedCall,
  tools: ReadonlyMap<string, Tool>,
): CallResult | undefined {
  const { name, index } = asked;
  if (!tools.has(name)) {
    const known = [...tools.keys()].join(', ') || '(none)';
    return refused(asked, 'not_found', `There is no tool "${name}". The tools are: ${known}.`);
  }
  if (index < MAX_PARALLEL_CALLS) return undefined;
  const message = `Too many calls in one answer: only the first ${MAX_PARALLEL_CALLS} were run. Call this one again.`;
  return refused(asked, 'error', message);
}

/** Checks a call's arguments, and whether it may run now. */
export function judgeCall(
  asking: AskedCall,
  facts: Facts,
  tools: ReadonlyMap<string, Tool>,
): Judged {
  const { argsError, ...asked } = asking;
  const { callId, name, args } = asked;
  const refuse = (outcome: CallResult['outcome'], message: string): Judged => ({
    asked,
    result: refused(asked, outcome, message),
  });
  const atOnce = refusedAtOnce(asked, tools);
  const tool = tools.get(name);
  if (atOnce !== undefined || tool === undefined)
    return { asked, ...(atOnce !== undefined && { result: atOnce }) };
  if (argsError !== undefined)
    return refuse('invalid', `${argsError} Correct them and call again.`);
  const parsed = tool.parse(args);
  if (!parsed.ok) return refuse('invalid', parsed.message);
  const { external, timeoutMs } = tool;
  let approval: boolean;
  try {
    approval = approvalOf(tool, parsed.value, { ...facts, callId });
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it threw something that is no error';
    return refuse('error', `Whether a person must approve this could not be decided: ${why}`);
  }
  if (!approval && !external) return { asked, call: asked };
  const wait = approval ? { needs: 'approval' as const } : { needs: 'result' as const, timeoutMs };
  return {
    asked,
    parked: { ...asked, ...wait, reason: 'policy', fingerprint: fingerprintOf(name, args) },
  };
}

/** The events that tell of a judged call. */
export function callEvents(
  speaking: Speaking,
  { asked, parked, result }: Judged,
): readonly LogEntry[] {
  const call = callEvent(speaking, asked, parked);
  return result === undefined ? [call] : [call, resultEvent(speaking, result)];
}

export function callEvent(speaking: Speaking, asked: Call, parked?: ParkedCall): LogEntry {
  const { invocationId, callId, name, args, node } = asked;
  return {
    type: 'tool.call',
    invocationId,
    author: speaking.agentName,
    ...branchOf(speaking),
    callId,
    name,
    args,
    needs: parked?.needs ?? 'nothing',
    ...(parked !== undefined && { fingerprint: parked.fingerprint }),
    ...(node !== undefined && { nodeInfo: node }),
  };
}

/** A call answered without being made. */
export function refused(
  { invocationId, callId, name, index, node }: Call,
  outcome: CallResult['outcome'],
  message: string,
): CallResult {
  const response: JsonObject = toolError(outcome, message);
  const within = node !== undefined && { node };
  return { invocationId, callId, name, index, outcome, response, ...within };
}

function approvalOf({ needsApproval }: Tool, args: ValidArgs, call: ToolCallFacts): boolean {
  return typeof needsApproval === 'function' ? needsApproval(args, call) : needsApproval;
}
