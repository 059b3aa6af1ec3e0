import { all, allOf, each, initialToken, net, pure, upTo } from '../../net/index.ts';
import type { Net, Transition } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import {
  archiveIn,
  completeIn,
  pauseIn,
  resumeIn,
  sessionArchived,
  sessionClosing,
  sessionCompleted,
  sessionFailed,
  sessionPaused,
  sessionQueued,
} from '../vocabulary/session.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { refusal } from './refusal.ts';

/** Closing wins over any turn that could start at the same time. */
export const CLOSE_PRIORITY = 50;
/** A pause wins over the next message, also over one that arrives with it. */
const PAUSE_PRIORITY = 10;
/** Storing a returned permit wins over every transition that could take it. */
const KEEP_PERMIT_PRIORITY = 1_000;

/**
 * The subnet that controls a session independently of its turns. A pause is a token that inhibits everything that could
 * start. Archived and completed sessions have consumed the permit, so no turn can start in them.
 */
export function sessionControl(): Net {
  const pause = pure('session.pause', {
    take: { pause: pauseIn },
    unless: [sessionPaused, sessionFailed, sessionClosing, sessionCompleted, sessionArchived],
    priority: PAUSE_PRIORITY,
    give: allOf({ paused: sessionPaused, events: upTo(1, eventOut) }),
    run: () => ({ paused: null, events: [{ type: 'session.paused' }] }),
  });

  const resume = pure('session.resume', {
    take: { resume: resumeIn, paused: sessionPaused },
    give: allOf({ events: upTo(1, eventOut) }),
    run: () => ({ events: [{ type: 'session.resumed' }] }),
  });

  const stop = pure('session.stop', {
    take: { archive: archiveIn, turns: all(turnCurrent, { min: 0 }) },
    unless: [sessionClosing, sessionCompleted, sessionArchived],
    reset: [sessionPaused, sessionQueued, sessionFailed],
    priority: CLOSE_PRIORITY,
    give: allOf({
      closing: sessionClosing,
      turns: each('turns', turnCurrent),
      stops: each('turns', turnStopping),
    }),
    run: ({ turns }) => ({
      closing: null,
      turns,
      stops: turns.map(() => ({ stopReason: 'interrupted' as const })),
    }),
  });

  const close = pure('session.close', {
    take: { closing: sessionClosing, permit: turnPermit },
    priority: CLOSE_PRIORITY,
    give: allOf({ archived: sessionArchived, events: upTo(1, eventOut) }),
    run: () => ({ archived: null, events: [{ type: 'session.archived' }] }),
  });

  const complete = pure('session.complete', {
    take: { complete: completeIn, permit: turnPermit },
    unless: [sessionPaused, sessionFailed, sessionQueued, sessionClosing],
    // Wins over the next message: a completed session processes no more messages.
    priority: CLOSE_PRIORITY,
    give: allOf({ completed: sessionCompleted, events: upTo(1, eventOut) }),
    run: () => ({ completed: null, events: [{ type: 'session.completed' }] }),
  });

  const archiveCompleted = pure('session.archive-completed', {
    formerNames: ['session.shelve'],
    take: { archive: archiveIn, completed: sessionCompleted },
    give: allOf({ archived: sessionArchived, events: upTo(1, eventOut) }),
    run: () => ({ archived: null, events: [{ type: 'session.archived' }] }),
  });

  // In a closed session every fault returns a permit, as a failed turn does. It is consumed again.
  const keepPermit = (
    name: string,
    closed: TokenPlace<null>,
    former: { readonly formerNames: readonly string[] },
  ): Transition =>
    pure(name, {
      ...former,
      take: { permit: turnPermit, closed },
      priority: KEEP_PERMIT_PRIORITY,
      give: allOf({ closed }),
      run: () => ({ closed: null }),
    });

  const flags = {
    sessionQueued,
    sessionPaused,
    sessionClosing,
    sessionArchived,
    sessionCompleted,
    sessionFailed,
  };
  return net('session-control', {
    in: { pauseIn, resumeIn, archiveIn, completeIn, turnPermit, turnCurrent, ...flags },
    out: { turnStopping, turnCurrent, eventOut, ...flags },
    transitions: [
      pause,
      resume,
      stop,
      close,
      complete,
      archiveCompleted,
      keepPermit('archived.discard-permit', sessionArchived, { formerNames: ['archived.seal'] }),
      keepPermit('completed.discard-permit', sessionCompleted, { formerNames: ['completed.seal'] }),
      refusal('pause.refuse', pauseIn, 'pause'),
      refusal('resume.refuse', resumeIn, 'resume'),
      refusal('archive.refuse', archiveIn, 'archive'),
      refusal('complete.refuse', completeIn, 'complete'),
    ],
    initial: [initialToken(sessionQueued, null)],
  });
}
