import { omitUndefined } from '../../core/internal.ts';
import { resultLimit } from '../../agents/internal.ts';
import type { Agent, Answer } from '../../agents/index.ts';
import { encodeJson, rootSessionId, sha256Hex } from '../../core/index.ts';
import type { Json, JsonObject, SessionKey } from '../../core/index.ts';
import type { ArtifactPart, ArtifactService } from '../../tools/index.ts';
import { toToolResponse, truncateResponse } from '../../tools/internal.ts';
import type { PendingCall } from './session.ts';

/** An answer to a pending call that has a response. */
export type ResponseAnswer = Answer & { readonly response: JsonObject };

/** Converts a response from outside to an answer, as if the tool had returned it. */
export function toAnswer(callId: string, returned: Json, isError: boolean = false): ResponseAnswer {
  const { outcome, response } = toToolResponse(returned);
  return { callId, decision: 'answered', response, isError: isError || outcome === 'error' };
}

/**
 * The id of one question of a call. A call may need an approval, then a result, and another approval after a crash;
 * each of these questions takes one answer.
 */
export function toAnswerId({
  callId,
  needs,
  asks,
}: Pick<PendingCall, 'callId' | 'needs' | 'asks'>): string {
  const question = needs === 'result' ? `${callId}:result` : callId;
  return asks === undefined ? question : `${question}#${asks}`;
}

/**
 * Truncates an answer to the result limit of its tool. The whole answer is saved as an artifact, if there is a
 * service.
 */
export async function truncateAnswer(
  answer: ResponseAnswer,
  context: {
    readonly agent: Agent;
    readonly key: SessionKey;
    readonly artifacts: ArtifactService | undefined;
    readonly toolName?: string | undefined;
  },
): Promise<Answer> {
  const { agent, key, artifacts, toolName } = context;
  const { tools, maxResultCharacters } = agent;
  const { callId } = answer;
  const save = async (name: string, part: ArtifactPart): Promise<unknown> => {
    const saveId = `${callId}/answer/${sha256Hex(encodeJson(part, 'part'))}`;
    const session = { ...key, sessionId: rootSessionId(key.sessionId) };
    return artifacts?.save({ session, name }, part, { saveId });
  };
  const limits = { tools, ...omitUndefined({ maxResultCharacters }) };
  return truncateResponse(
    answer,
    resultLimit(limits, toolName, {
      callId,
      ...omitUndefined({ save: artifacts === undefined ? undefined : save }),
    }),
  );
}
