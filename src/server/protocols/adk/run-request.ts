import * as v from 'valibot';
import { fromAdkContent } from '../../../adk/internal.ts';
import { InvalidInputError, isJsonObject, parseUserContent } from '../../../core/index.ts';
import type { Json, JsonObject, StateDelta } from '../../../core/index.ts';
import { omitUndefined, parseUserInputId, unwrapUserInput } from '../../../core/internal.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { readLog, toSessionRef } from '../../events/session-log.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { nonEmptyText } from '../../wire/wire-schemas.ts';
import type { ClientInput } from '../send-inputs.ts';
import { adkBody } from './adk-body.ts';

const anyObject = v.custom<JsonObject>(isJsonObject, 'must be an object');

/** The body of a run: `RunAgentRequest` of ADK. */
export interface AdkRunRequest {
  readonly appName?: string | undefined;
  readonly userId: string;
  readonly sessionId: string;
  readonly newMessage?: Json | undefined;
  readonly streaming?: boolean | null | undefined;
  readonly stateDelta?: StateDelta | null | undefined;
  readonly invocationId?: string | null | undefined;
  readonly customMetadata?: JsonObject | null | undefined;
}

export const adkRunRequest: v.GenericSchema<unknown, AdkRunRequest> = adkBody(
  v.looseObject({
    appName: v.optional(nonEmptyText(256)),
    userId: nonEmptyText(256),
    sessionId: nonEmptyText(256),
    newMessage: v.optional(v.custom<Json>((value) => value !== undefined)),
    streaming: v.nullish(v.boolean()),
    stateDelta: v.nullish(anyObject),
    invocationId: v.nullish(nonEmptyText(256)),
    customMetadata: v.nullish(anyObject),
  }),
);

/** How a call is answered: by a decision, or by a result. Undefined for a call that never waited. */
export type FindNeeds = (callId: string) => 'approval' | 'result' | undefined;

/**
 * The inputs of a run: the answers in its message, and the message.
 * @param messageId the same for each repetition of the request
 * @throws InvalidInputError
 */
export function toAdkInputs(
  { newMessage, stateDelta, customMetadata }: AdkRunRequest,
  messageId: string,
  findNeeds: FindNeeds,
): readonly ClientInput[] {
  if (newMessage === undefined || newMessage === null) return [];
  const { parts } = fromAdkContent(newMessage, 'newMessage');
  const all = Array.isArray(parts) ? parts.filter(isJsonObject) : [];
  const answers = all.flatMap((part, index) =>
    isJsonObject(part['functionResponse'])
      ? [toAnswer(part['functionResponse'], findNeeds, `newMessage.parts[${index}]`)]
      : [],
  );
  const rest = all.filter((part) => part['functionResponse'] === undefined);
  if (rest.length === 0) return answers;
  return [
    ...answers,
    {
      type: 'message',
      messageId,
      content: parseUserContent({ role: 'user', parts: rest }),
      ...omitUndefined({
        stateDelta: stateDelta ?? undefined,
        metadata: customMetadata ?? undefined,
      }),
    },
  ];
}

/**
 * The answer in a function response.
 * @throws InvalidInputError
 */
export function toAnswer(
  { id, name, response }: JsonObject,
  findNeeds: FindNeeds,
  field: string,
): ClientInput {
  if (typeof id !== 'string')
    throw new InvalidInputError(
      `${field}.functionResponse.id`,
      'must be the id of the call that it answers.',
    );
  const callId = parseUserInputId(id);
  const value = unwrapUserInput(response ?? {});
  if (findNeeds(callId) !== 'approval') {
    const isInput = name === 'adk_request_input' && isJsonObject(value);
    const result = isInput ? (value['result'] ?? value) : value;
    return { type: 'result', callId, response: result };
  }
  const confirmed = isJsonObject(value) ? value['confirmed'] : undefined;
  if (confirmed === true) return { type: 'approve', callId };
  if (confirmed === false) return { type: 'deny', callId };
  throw new InvalidInputError(
    `${field}.functionResponse.response`,
    'must be { "confirmed": true } or { "confirmed": false }: the call waits for an approval.',
  );
}

/** How the calls of a session are answered: those that wait, and recent ones that did. */
export async function readCallNeeds(
  context: ServerContext,
  session: ManagedSession,
): Promise<FindNeeds> {
  const needs = new Map<string, 'approval' | 'result'>();
  for await (const entry of readLog(context, session, Math.max(0, session.lastSeq - 500)))
    if (entry.type === 'tool.answered')
      needs.set(entry.callId, entry.decision === 'answered' ? 'result' : 'approval');
  for (const call of await context.runtime.pending(toSessionRef(session)))
    needs.set(call.callId, call.needs);
  return (callId) => needs.get(callId);
}
