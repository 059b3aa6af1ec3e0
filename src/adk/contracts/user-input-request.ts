import { getFunctionCalls, getFunctionResponses, isJsonObject } from '../../core/index.ts';
import type { AuthConfig, Event, FunctionCall, Json, JsonObject } from '../../core/index.ts';
import { omitUndefined, toUserInputId } from '../../core/internal.ts';

/** A request to the user: answer it with a function response that has this id and this name. */
export interface UserInputRequest {
  /** `confirmation`: approve a call. `credential`: complete `authConfig`. `input`: answer a question or a call. */
  readonly kind: 'confirmation' | 'credential' | 'input';
  /** The id of the function response that answers it. */
  readonly interruptId: string;
  /** The name of the function response that answers it. */
  readonly functionCallName: string;
  /** The agent that made the request. */
  readonly author?: string;
  /** The hint of a confirmation, or the question of a node. */
  readonly message?: string;
  /** The arguments of the call that waits. */
  readonly args?: JsonObject;
  /** Only for a confirmation: the tool that waits for it. */
  readonly toolName?: string;
  /** Only for a credential. */
  readonly authConfig?: AuthConfig;
}

/**
 * Lists the requests of a session's events that have no function response yet, in the order in which they were made.
 * Use `session.events`, so that the calls are among the events.
 */
export function getPendingUserInputRequests(events: readonly Event[]): readonly UserInputRequest[] {
  const calls = new Map<string, FunctionCall>();
  const pending = new Map<string, UserInputRequest>();
  for (const event of events) {
    for (const { id } of getFunctionResponses(event)) {
      pending.delete(id);
      pending.delete(toUserInputId(id));
    }
    for (const call of getFunctionCalls(event)) calls.set(call.id, call);
    for (const request of listRequests(event, calls)) pending.set(request.interruptId, request);
  }
  return [...pending.values()];
}

function listRequests(
  { author, longRunningToolIds = [] }: Event,
  calls: ReadonlyMap<string, FunctionCall>,
): readonly UserInputRequest[] {
  return longRunningToolIds.map((interruptId): UserInputRequest => {
    const { name = '', args } = calls.get(interruptId) ?? {};
    const request = { interruptId, functionCallName: name, author };
    if (name === 'adk_request_confirmation' && args !== undefined) {
      const { toolConfirmation, originalFunctionCall } = args;
      const { hint } = toObject(toolConfirmation);
      const call = toObject(originalFunctionCall);
      return {
        kind: 'confirmation',
        ...request,
        ...omitUndefined({
          message: typeof hint === 'string' && hint !== '' ? hint : undefined,
          args: toObject(call['args']),
          toolName: typeof call['name'] === 'string' ? call['name'] : undefined,
        }),
      };
    }
    const { authScheme, ...auth } = toObject(args?.['auth_config']);
    if (name === 'adk_request_credential')
      return {
        kind: 'credential',
        ...request,
        authConfig: { ...auth, authScheme: toObject(authScheme) },
      };
    const message = args?.['message'];
    return {
      kind: 'input',
      ...request,
      ...omitUndefined({ args, message: typeof message === 'string' ? message : undefined }),
    };
  });
}

function toObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
