// The names, arguments and texts of these calls are those of Google's Agent Development Kit, because its clients read
// them. See NOTICE.

import { omitUndefined } from '../json/omit-undefined.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { CallId } from '../identity/ids.ts';
import type { EventActions } from './event-actions.ts';

/** A call that waits, as a client must be asked about it. */
export interface CallToAnswer {
  readonly callId: CallId;
  readonly name: string;
  readonly args: JsonObject;
  readonly needs: 'approval' | 'result';
  /** What the tool requested when it began to wait. */
  readonly request?: Json | undefined;
}

/** How ADK asks a client: a call of one of its own functions, and what the event requests. */
export interface UserInputCall {
  readonly functionCall: { readonly id: CallId; readonly name: string; readonly args: JsonObject };
  readonly actions: Partial<EventActions>;
}

const ID_PREFIX = 'adk-';

/** The id of the call of ADK's function that asks for an answer to a call. */
export function toUserInputId(callId: CallId): CallId {
  return `${ID_PREFIX}${callId}`;
}

/** The call that an answer is for. The answer may name the call itself. */
export function parseUserInputId(id: string): CallId {
  return id.startsWith(ID_PREFIX) ? id.slice(ID_PREFIX.length) : id;
}

/** The call with which ADK asks a client; undefined if the tool asked for nothing that ADK knows. */
export function toUserInputCall(call: CallToAnswer): UserInputCall | undefined {
  const { callId, name, needs, request } = call;
  if (needs === 'approval')
    return toConfirmation(call, { hint: toApprovalHint(name), skips: true });
  const {
    adk_request_credential: auth,
    adk_request_confirmation: confirmation,
    adk_request_input: input,
  } = isJsonObject(request) ? request : {};
  if (isJsonObject(confirmation)) {
    const { hint = '', payload, skipSummarization } = confirmation;
    const skips = skipSummarization === true;
    return toConfirmation(call, { hint, skips, ...omitUndefined({ payload }) });
  }
  const id = toUserInputId(callId);
  if (isJsonObject(auth) && isJsonObject(auth['authScheme']))
    return {
      functionCall: {
        id,
        name: 'adk_request_credential',
        args: { function_call_id: callId, auth_config: auth },
      },
      actions: { requestedAuthConfigs: { [callId]: { ...auth, authScheme: auth['authScheme'] } } },
    };
  return isJsonObject(input)
    ? { functionCall: { id, name: 'adk_request_input', args: input }, actions: {} }
    : undefined;
}

function toConfirmation(
  { callId, name, args }: CallToAnswer,
  {
    hint,
    payload,
    skips,
  }: { readonly hint: Json; readonly payload?: Json; readonly skips: boolean },
): UserInputCall {
  const toolConfirmation = {
    hint: typeof hint === 'string' ? hint : '',
    confirmed: false,
    ...omitUndefined({ payload }),
  };
  return {
    functionCall: {
      id: toUserInputId(callId),
      name: 'adk_request_confirmation',
      args: { originalFunctionCall: { id: callId, name, args }, toolConfirmation },
    },
    actions: {
      requestedToolConfirmations: { [callId]: toolConfirmation },
      ...(skips && { skipSummarization: true }),
    },
  };
}

/** How ADK asks a client to confirm a call. */
export function toApprovalHint(toolName: string): string {
  return `Please approve or reject the tool call ${toolName}() by responding with a FunctionResponse with an expected ToolConfirmation payload.`;
}

/** The response of a function response. Some clients of ADK send it as JSON text in `response`. */
export function unwrapUserInput(response: Json): Json {
  if (!isJsonObject(response) || Object.keys(response).length !== 1) return response;
  const { response: text } = response;
  if (typeof text !== 'string') return response;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : response;
  } catch {
    return response;
  }
}
