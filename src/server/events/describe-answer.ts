import { isJsonObject } from '../../core/index.ts';
import type { ManagedSession } from '../../managed/index.ts';
import { HttpError } from '../http/http-error.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { toWireTime } from '../wire/wire-schemas.ts';
import { readInbox, readLog, toSessionRef } from './session-log.ts';

interface GivenAnswer {
  readonly holder: ManagedSession;
  readonly decision: string;
  readonly at: number | undefined;
}

/**
 * The error for a second answer to a call: who gave the first one, when, and what it was.
 * @param shownId the id of the call in the request
 */
export async function describeAnswer(
  context: ServerContext,
  session: ManagedSession,
  { callId, shownId }: { readonly callId: string; readonly shownId: string },
): Promise<HttpError> {
  const answer = await findAnswer(context, session, callId);
  const by = answer && context.answerAuthors.find(answer.holder.id, callId);
  const at = answer?.at === undefined ? undefined : toWireTime(answer.at);
  const how = [
    answer === undefined ? '' : ` The call was ${answer.decision}`,
    by === undefined ? '' : ` with the key ${by}`,
    at === undefined ? '' : ` at ${at}`,
  ].join('');
  return new HttpError(
    400,
    `Call "${shownId}" was already answered, and the first answer counts.${how === '' ? '' : `${how}.`}`,
    {
      details: {
        error_code: 'already_answered',
        call_id: shownId,
        answered_by: by ?? null,
        answered_at: at ?? null,
        decision: answer?.decision ?? null,
      },
    },
  );
}

/** The first answer to a call of a session or of its threads: in the log, or accepted and not processed yet. */
async function findAnswer(
  context: ServerContext,
  session: ManagedSession,
  callId: string,
): Promise<GivenAnswer | undefined> {
  const holders = [session, ...(await context.runtime.threads(toSessionRef(session)))];
  for (const holder of holders) {
    // The inbox first: meanwhile, an answer may move from there to the log.
    for (const { input } of await readInbox(context, holder)) {
      const { value } = input;
      if (input.place !== 'answer.in' || !isJsonObject(value)) continue;
      if (value['callId'] !== callId || value['isUpdate'] === true) continue;
      const { decision } = value;
      if (typeof decision === 'string') return { holder, decision, at: undefined };
    }
    for await (const logged of readLog(context, holder, 0)) {
      if (logged.type === 'tool.answered' && logged.callId === callId)
        return { holder, decision: logged.decision, at: logged.at };
    }
  }
  return undefined;
}
