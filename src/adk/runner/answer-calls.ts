import { InvalidInputError, isJsonObject } from '../../core/index.ts';
import type { FunctionResponse } from '../../core/index.ts';
import { parseUserInputId, unwrapUserInput } from '../../core/internal.ts';
import type { PendingCall, Session } from '../../runtime/index.ts';
import type { CredentialService } from '../tools/credential-service.ts';
import { parseCredentialRequest, parseGrantedCredential } from '../tools/function-tool-context.ts';

/** The answers with the ids of the waiting calls, where they name a request by a function of ADK. */
export function toCallAnswers(
  answers: readonly FunctionResponse[],
  pending: readonly PendingCall[],
): readonly FunctionResponse[] {
  return answers.map((answer) => {
    const { id, name, response } = answer;
    const callId = pending.some((call) => call.callId === id) ? id : parseUserInputId(id);
    if (!name.startsWith('adk_request_')) return { ...answer, id: callId };
    const value = unwrapUserInput(response);
    return { ...answer, id: callId, response: isJsonObject(value) ? value : response };
  });
}

/**
 * Returns the first call that a message answers. If any answer is not for a waiting call, or two answer the same call,
 * nothing is answered.
 * @throws InvalidInputError naming the invalid answer
 */
export function findAnsweredCall(
  answers: readonly FunctionResponse[],
  pending: readonly PendingCall[],
): PendingCall {
  const calls = answers.map(({ id }, index) => {
    const call = pending.find(({ callId }) => callId === id);
    if (call !== undefined && answers.findIndex((one) => one.id === id) === index) return call;
    const waiting = pending.map(({ callId }) => callId).join(', ') || '(none)';
    throw new InvalidInputError(
      'newMessage',
      `answers no waiting call: functionResponse ${index + 1} has the id "${id.slice(0, 200)}". Waiting calls: ${waiting}.`,
    );
  });
  const [first] = calls;
  if (first === undefined)
    throw new InvalidInputError('newMessage', 'contains no function response.');
  return first;
}

/** Answers waiting calls: approves or denies them, saves their credentials, or passes on their results. */
export async function answerCalls(
  answers: readonly FunctionResponse[],
  {
    pending,
    session,
    credentials,
  }: {
    readonly pending: readonly PendingCall[];
    readonly session: Session;
    readonly credentials: CredentialService;
  },
): Promise<void> {
  for (const { id = '', response } of answers) {
    const waiting = pending.find(({ callId }) => callId === id);
    if (waiting?.needs === 'approval') {
      const approved = response['confirmed'] === true;
      await (
        approved ? session.approve(id, { fingerprint: waiting.fingerprint }) : session.deny(id)
      ).accepted;
    } else {
      const credentialRequest = parseCredentialRequest(waiting?.request);
      if (credentialRequest === undefined) await session.answer(id, response).accepted;
      else {
        await credentials.saveCredential(
          parseGrantedCredential(credentialRequest, response),
          session.key,
        );
        // The credential itself must not appear in the log.
        await session.answer(id, { authorized: true }).accepted;
      }
    }
  }
}
