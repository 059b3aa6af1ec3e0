import * as v from 'valibot';
import { InvalidInputError } from '../core/index.ts';
import { defineRoute } from './route.ts';
import type { Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';
import { faceOf, readLog } from './session-log.ts';
import { noteOf, sessionOf, toWireSession, wantWorker } from './session-view.ts';
import { name } from './wire-schemas.ts';

const seq = v.pipe(
  v.number('must be a number'),
  v.safeInteger('must be a whole number'),
  v.minValue(0, 'must not be negative'),
);

/** What this server can do with a session beside what the protocol has: hold it, copy it, take it back. */
export function sessionControlRoutes(parts: ServerParts): readonly Route[] {
  const { runtime, sessions, attempts } = parts;
  return [
    defineRoute('POST /v1/sessions/{session_id}/pause: Hold a session at its next settled step', {
      run: async (call) => {
        const session = await sessionOf(parts, call);
        if (session.status !== 'paused') await runtime.pause(session.id);
        return toWireSession(parts, await runtime.getSession(session.id));
      },
    }),
    defineRoute(
      'POST /v1/sessions/{session_id}/resume: Let a session that is held or failed go on',
      {
        run: async (call) => {
          const session = await sessionOf(parts, call);
          const { workspace } = call.caller;
          await wantWorker(parts, workspace, session);
          await attempts.once(workspace, call.attempt, async () => runtime.resume(session.id));
          return toWireSession(parts, await runtime.getSession(session.id));
        },
      },
    ),
    defineRoute(
      'POST /v1/sessions/{session_id}/fork: Begin a session with the first events of another',
      {
        body: v.object({ up_to_seq: v.nullish(seq) }),
        creates: true,
        run: async (call) => {
          const { workspace } = call.caller;
          const session = await sessionOf(parts, call);
          const id = await attempts.idFor(workspace, call.attempt, parts.newId('session'));
          const { environmentId } = noteOf(await sessions.get(workspace, session.id));
          const fork = await runtime.fork(session.id, {
            id,
            upTo: call.body.up_to_seq ?? session.lastSeq,
            documents: () => [sessions.addition(workspace, id, { environmentId })],
          });
          return toWireSession(parts, fork);
        },
      },
    ),
    defineRoute('POST /v1/sessions/{session_id}/rewind: Take a session back to before an event', {
      body: v.object({ before_event_id: name(256) }),
      run: async (call) => {
        const session = await sessionOf(parts, call);
        const beforeInvocationId = await invocationOf(parts, session, call.body.before_event_id);
        await attempts.once(call.caller.workspace, call.attempt, async () =>
          runtime.rewind(session.id, { beforeInvocationId, dedupeKey: call.attempt }),
        );
        return toWireSession(parts, await runtime.getSession(session.id));
      },
    }),
  ];
}

/** The invocation that an event is of. @throws InvalidInputError when it is of none */
async function invocationOf(
  parts: ServerParts,
  session: Parameters<typeof faceOf>[1],
  eventId: string,
): Promise<string> {
  const { face } = await faceOf(parts, session);
  const place = await face.find(eventId);
  for await (const event of place === undefined ? [] : readLog(parts, session, place.seq - 1)) {
    if ('invocationId' in event && event.invocationId !== undefined) return event.invocationId;
    break;
  }
  throw new InvalidInputError(
    'before_event_id',
    'names no event of a turn of this session: name the user.message to take back.',
  );
}
