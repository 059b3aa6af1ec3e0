import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, isPetrichorError } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type { ManagedSession, UserEvent } from '../../managed/index.ts';
import { toToolResult } from '../../managed/internal.ts';
import { toToolResponse } from '../../tools/index.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { readInbox, readLog, toSessionRef } from './session-log.ts';

/** An answer to a call, in the form that the net receives and the log stores. */
interface RecordedAnswer {
  readonly decision: 'approved' | 'denied' | 'answered';
  readonly response?: Json | undefined;
  readonly isError?: boolean;
}

/** True for the error of an answer to a call that does not wait for one. */
export function isAnswerConflict(error: unknown): boolean {
  return (
    isPetrichorError(error) &&
    ['already_answered', 'call_not_pending', 'illegal_transition'].includes(error.code)
  );
}

/** True if the call already has this answer: in the log, in the inbox, or earlier in the same request. */
export async function isRepeatedAnswer(
  context: ServerContext,
  session: ManagedSession,
  event: UserEvent,
  before: readonly UserEvent[],
): Promise<boolean> {
  const [callId, answer] = toAnswer(event);
  if (callId === undefined || answer === undefined) return false;
  for (const other of before) {
    const [id, recorded] = toAnswer(other);
    if (id === callId && recorded?.decision === answer.decision)
      return isSameAnswer(answer, recorded);
    if (id === callId && answer.decision !== 'answered') return false;
  }
  // A call of a thread can be answered at its session. The answer is then in the thread's log.
  for (const holder of [session, ...(await context.runtime.threads(toSessionRef(session)))]) {
    const recorded = await findRecordedAnswer(context, holder, callId, answer.decision);
    if (recorded !== undefined) return isSameAnswer(answer, recorded);
  }
  return false;
}

/** The answer to a call in a session's inbox or log; undefined if there is none. */
async function findRecordedAnswer(
  context: ServerContext,
  session: ManagedSession,
  callId: string,
  expected: RecordedAnswer['decision'],
): Promise<RecordedAnswer | undefined> {
  const isConfirmation = expected !== 'answered';
  for (const { input } of await readInbox(context, session)) {
    const { value } = input;
    if (input.place !== 'answer.in' || !isJsonObject(value) || value['callId'] !== callId) continue;
    const { decision, response, isError } = value;
    if ((decision !== 'answered') !== isConfirmation || value['isUpdate'] === true) continue;
    if (decision !== 'approved' && decision !== 'denied' && decision !== 'answered') continue;
    return { decision, response, isError: isError === true };
  }
  for await (const logged of readLog(context, session, 0)) {
    if (!('callId' in logged) || logged.callId !== callId) continue;
    if (isConfirmation && logged.type === 'tool.answered' && logged.decision !== 'answered')
      return { decision: logged.decision };
    if (!isConfirmation && logged.type === 'tool.result') {
      const { outcome, response } = logged;
      return { decision: 'answered', response, isError: outcome !== 'ok' };
    }
  }
  return undefined;
}

function toAnswer(event: UserEvent): readonly [callId?: string, answer?: RecordedAnswer] {
  switch (event.type) {
    case 'user.tool_confirmation':
      return [event.tool_use_id, { decision: event.result === 'allow' ? 'approved' : 'denied' }];
    case 'user.tool_result':
      return [event.tool_use_id, toResultAnswer(event)];
    case 'user.custom_tool_result':
      return [event.custom_tool_use_id, toResultAnswer(event)];
    default:
      return [];
  }
}

function toResultAnswer({
  content,
  is_error: isError = false,
}: {
  readonly content: Parameters<typeof toToolResult>[0];
  readonly is_error?: boolean;
}): RecordedAnswer {
  const { response } = toToolResponse(toToolResult(content));
  return { decision: 'answered', response, isError };
}

/** Two failures count as equal, because the log stores the text in a different form. */
function isSameAnswer(one: RecordedAnswer, other: RecordedAnswer): boolean {
  if (one.decision !== other.decision) return false;
  if (one.decision !== 'answered') return true;
  if ((one.isError === true) !== (other.isError === true)) return false;
  return one.isError === true || isDeepStrictEqual(one.response, other.response);
}
