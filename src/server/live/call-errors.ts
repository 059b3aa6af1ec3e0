import { UnknownPlaceError } from '../../net/index.ts';
import type { Session } from '../../runtime/index.ts';
import { HttpError } from '../http/http-error.ts';

/** The error of a call that could not begin, as its client gets it. */
export function toCallError(error: unknown, { agent }: Pick<Session, 'agent'>): unknown {
  if (!(error instanceof UnknownPlaceError)) return error;
  return new HttpError(
    400,
    `The agent "${agent}" has no live model. Serve an agent of liveAgent().`,
    {
      details: {
        /**
         * The agent of the session has no live model.
         * @remedy Use a session of an agent that `liveAgent()` returned.
         */
        error_code: 'not_a_live_agent',
      },
      cause: error,
    },
  );
}

/** The error of a socket whose call another one has taken. */
export function replacedCallError(): HttpError {
  return new HttpError(410, 'Another socket has the call now.', {
    details: {
      /**
       * Another socket has taken the live call over.
       * @remedy Do not reconnect, unless the user asks for it.
       */
      error_code: 'live_call_replaced',
    },
  });
}

/** The error of a call whose session has no connection to its model here. */
export function lostCallError(): HttpError {
  return new HttpError(
    503,
    'The session has no connection to its model in this process. Connect again.',
    {
      details: {
        /**
         * The session has no connection to its live model in this process: the model cannot be reached, or another process
         * has the session.
         * @remedy Connect again. The log of the session has the reason, if the model could not be reached.
         */
        error_code: 'live_connection_unavailable',
      },
    },
  );
}
