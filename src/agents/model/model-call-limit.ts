import { PetrichorError } from '../../core/index.ts';
import type { InvocationId, Json, JsonObject } from '../../core/index.ts';
import { getAgentHost, getMetadata } from '../vocabulary/agent-host.ts';

/** State key in a called agent's session: the invocation that its model calls count for. Removed when the turn ends. */
export const ROOT_INVOCATION_KEY = 'temp:root_invocation';

/** State key in a called agent's session: the lowest `maxModelCalls` of the agents on the way to it. Absent: no limit. */
export const CALLERS_LIMIT_KEY = 'temp:max_model_calls';

/** Codes of the errors that end a turn at a limit of model calls. */
const LIMIT_CODES = [
  /**
   * The invocation used all model calls that its run config allows. Everything it committed stays in the session.
   * @remedy Raise `maxLlmCalls` in the run config, or find out why the invocation needs so many.
   */
  'llm_calls_limit_exceeded',
  /**
   * The invocation used all model calls that the definition of its agent allows. The turn ends with `budget_reached`.
   * @remedy Raise `maxModelCalls` of the agent, or find out why the invocation does not end.
   */
  'model_calls_spent',
] as const;

/**
 * An invocation has reached its limit of model calls, including those of called agents. The turn ends with
 * `budget_reached`.
 * @remedy Raise the limit in the message, or find out why the invocation needs so many calls.
 */
export class ModelCallLimitError extends PetrichorError {
  override readonly code: (typeof LIMIT_CODES)[number];
  readonly limit: number;

  constructor(code: (typeof LIMIT_CODES)[number], limit: number, option: string) {
    super(
      `The invocation has reached its limit of ${limit} model calls: raise ${option}, or find out why it does not end.`,
    );
    this.code = code;
    this.limit = limit;
  }
}

/** True for the code of a `ModelCallLimitError`. */
export function isModelCallLimit(code: string): boolean {
  return LIMIT_CODES.some((known) => known === code);
}

/** Codes of the errors with which a quota refuses a model call. */
const QUOTA_CODES: readonly string[] = ['quota_exceeded', 'model_price_missing'];

/** True for the code of an error with which a quota refuses a call. The same call may be made when there is room again. */
export function isQuotaRefusal(code: string): boolean {
  return QUOTA_CODES.includes(code);
}

/** True for the code of an error with which a limit or a quota refuses a call. */
export function isCallRefusal(code: string): boolean {
  return isModelCallLimit(code) || isQuotaRefusal(code);
}

/** A model call that is about to be made. */
export interface CountedModelCall {
  readonly invocationId: InvocationId;
  /** The number of model answers before it. Used as the count when the net runs outside a session. */
  readonly round: number;
  readonly state: JsonObject;
  /** The limit of the agent's definition. */
  readonly maxModelCalls?: number | undefined;
}

/**
 * Counts a model call before it is made. The limits of the run config and of the definition apply to the whole
 * invocation: concurrent agents, called agents and repeated attempts count together.
 * @throws ModelCallLimitError when this call would exceed a limit
 */
export async function countModelCall(
  host: unknown,
  { invocationId, round, state, maxModelCalls: own }: CountedModelCall,
): Promise<void> {
  const maxModelCalls = lowestLimitIn(state, own) ?? 0;
  const configured = getMetadata(host, invocationId).runConfig?.['maxLlmCalls'];
  const maxLlmCalls = typeof configured === 'number' ? configured : 0;
  if (maxLlmCalls <= 0 && maxModelCalls <= 0) return;
  const count = getAgentHost(host)?.countModelCall;
  const number =
    count === undefined ? round + 1 : await count(rootInvocationIn(state) ?? invocationId);
  if (maxLlmCalls > 0 && number > maxLlmCalls)
    throw new ModelCallLimitError(
      'llm_calls_limit_exceeded',
      maxLlmCalls,
      'maxLlmCalls in the run config',
    );
  if (maxModelCalls > 0 && number > maxModelCalls)
    throw new ModelCallLimitError('model_calls_spent', maxModelCalls, 'maxModelCalls');
}

/** The invocation that a called agent works for; undefined in a session that was not started by an agent. */
export function rootInvocationIn(state: JsonObject): InvocationId | undefined {
  const root = state[ROOT_INVOCATION_KEY];
  return typeof root === 'string' ? root : undefined;
}

/** The lower one of an agent's own limit of model calls and that of the agents that called it; undefined without both. */
export function lowestLimitIn(state: JsonObject, own: number | undefined): number | undefined {
  const limits = [state[CALLERS_LIMIT_KEY], own].filter(isLimit);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

function isLimit(value: Json | undefined): value is number {
  return typeof value === 'number' && value > 0;
}
