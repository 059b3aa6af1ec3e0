import * as v from 'valibot';
import { SESSION_WRITE_SCOPES } from '../auth/key-scope.ts';
import { InvalidInputError } from '../../core/index.ts';
import { openProjection, readLog, toSessionRef } from '../events/session-log.ts';
import { defineRoute } from '../routing/route.ts';
import type { HttpRoute } from '../routing/route.ts';
import type { ServerContext } from '../routing/server-context.ts';
import { component, field } from '../wire/component.ts';
import { sessionResponse } from '../wire/responses/session-responses.ts';
import { nonEmptyText } from '../wire/wire-schemas.ts';
import { parseSessionIndexEntry, getWorkspaceSession, enqueueForWorker } from './session-lookup.ts';
import { toWireSession } from './to-wire-session.ts';

const seq = v.pipe(
  v.number('must be a number'),
  v.safeInteger('must be a whole number'),
  v.minValue(0, 'must not be negative'),
);

/** Routes that extend the protocol: pause, resume, fork and rewind a session. */
export function sessionControlRoutes(context: ServerContext): readonly HttpRoute[] {
  const { runtime, sessions } = context;
  return [
    defineRoute('POST /v1/sessions/{session_id}/pause: Pause a session at its next settled step', {
      response: sessionResponse,
      scopes: SESSION_WRITE_SCOPES,
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        await call.idempotentRequest.runOnce(async () => {
          if (session.status !== 'paused') await runtime.pause(toSessionRef(session));
        });
        return toWireSession(context, await runtime.getSession(toSessionRef(session)));
      },
    }),
    defineRoute('POST /v1/sessions/{session_id}/resume: Continue a paused or failed session', {
      response: sessionResponse,
      scopes: SESSION_WRITE_SCOPES,
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        const { workspace } = call.caller;
        await enqueueForWorker(context, workspace, session);
        await call.idempotentRequest.runOnce(async () => runtime.resume(toSessionRef(session)));
        return toWireSession(context, await runtime.getSession(toSessionRef(session)));
      },
    }),
    defineRoute(
      'POST /v1/sessions/{session_id}/fork: Create a session from the first events of another',
      {
        response: sessionResponse,
        scopes: SESSION_WRITE_SCOPES,
        body: component(
          'ForkParams',
          'Default of `up_to_seq`: the last entry of the log.',
          v.object({
            up_to_seq: v.nullish(field('The last entry of the log that the copy has.', seq)),
            at_record: v.nullish(
              field(
                'Instead of `up_to_seq`: the copy has the steps that end at this record or before.',
                seq,
              ),
            ),
          }),
        ),
        creates: true,
        run: async (call) => {
          const { workspace } = call.caller;
          const session = await getWorkspaceSession(context, call);
          const id = await call.idempotentRequest.reserveId(context.newId('session'));
          const { environmentId } = parseSessionIndexEntry(
            await sessions.get(workspace, session.id),
          );
          const { up_to_seq: upTo, at_record: record } = call.body;
          if (upTo != null && record != null)
            throw new InvalidInputError('at_record', 'excludes up_to_seq: send one of them.');
          const cut = record == null ? { upTo: upTo ?? session.lastSeq } : { atRecord: record };
          const forkedFrom = { sessionId: session.id, ...cut };
          const fork = await runtime.fork(toSessionRef(session), {
            id,
            ...cut,
            documents: () => [sessions.insertion(workspace, id, { environmentId, forkedFrom })],
          });
          return toWireSession(context, fork);
        },
      },
    ),
    defineRoute('POST /v1/sessions/{session_id}/rewind: Take a session back to before an event', {
      response: sessionResponse,
      scopes: SESSION_WRITE_SCOPES,
      body: component(
        'RewindParams',
        'The event before whose turn the session continues.',
        v.object({ before_event_id: nonEmptyText(256) }),
      ),
      run: async (call) => {
        const session = await getWorkspaceSession(context, call);
        const beforeInvocationId = await findInvocationId(
          context,
          session,
          call.body.before_event_id,
        );
        await call.idempotentRequest.runOnce(async () =>
          runtime.rewind(toSessionRef(session), {
            beforeInvocationId,
            dedupeKey: call.idempotentRequest.key,
          }),
        );
        return toWireSession(context, await runtime.getSession(toSessionRef(session)));
      },
    }),
  ];
}

/**
 * The invocation of an event.
 * @throws InvalidInputError when the event belongs to no turn of the session
 */
async function findInvocationId(
  context: ServerContext,
  session: Parameters<typeof openProjection>[1],
  eventId: string,
): Promise<string> {
  const { projection } = openProjection(context, session);
  const position = await projection.findPosition(eventId);
  for await (const event of position === undefined
    ? []
    : readLog(context, session, position.seq - 1)) {
    if ('invocationId' in event && event.invocationId !== undefined) return event.invocationId;
    break;
  }
  throw new InvalidInputError(
    'before_event_id',
    'names no event of a turn of this session: name the user.message to take back.',
  );
}
