import { getFunctionCalls, getFunctionResponses } from '../../core/index.ts';
import type { AuthConfig, Event, FunctionCall, JsonObject } from '../../core/index.ts';
import { omitUndefined } from '../../core/internal.ts';

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
  /** The hint of a confirmation. */
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
    for (const { id } of getFunctionResponses(event)) pending.delete(id);
    for (const call of getFunctionCalls(event)) calls.set(call.id, call);
    for (const request of listRequests(event, calls)) pending.set(request.interruptId, request);
  }
  return [...pending.values()];
}

function listRequests(
  { author, actions, longRunningToolIds = [] }: Event,
  calls: ReadonlyMap<string, FunctionCall>,
): readonly UserInputRequest[] {
  const { requestedToolConfirmations, requestedAuthConfigs } = actions;
  const ids = new Set([
    ...longRunningToolIds,
    ...Object.keys(requestedToolConfirmations),
    ...Object.keys(requestedAuthConfigs),
  ]);
  return [...ids].map((interruptId): UserInputRequest => {
    const call = calls.get(interruptId);
    const confirmation = requestedToolConfirmations[interruptId];
    const authConfig = requestedAuthConfigs[interruptId];
    const name = confirmation?.toolName ?? call?.name ?? '';
    const isConfirmation = confirmation !== undefined;
    return {
      kind: isConfirmation ? 'confirmation' : authConfig === undefined ? 'input' : 'credential',
      interruptId,
      functionCallName: name,
      ...omitUndefined({
        author,
        message: confirmation?.hint,
        args: confirmation?.args ?? call?.args,
        toolName: isConfirmation ? name : undefined,
        authConfig,
      }),
    };
  });
}
