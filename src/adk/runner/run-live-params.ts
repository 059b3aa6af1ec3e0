import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { RunConfig } from '../contracts/run-config.ts';
import { LiveRequestQueue } from '../live/live-request-queue.ts';

/** One live session. ADK's parameters of `runLive`. */
export interface RunLiveParams {
  /** Must be the runner's own app name if set, so that the address of a session can be passed as it is. */
  readonly appName?: string;
  readonly userId: string;
  readonly sessionId: string;
  /** The input of the user. Closing it ends the live session. */
  readonly liveRequestQueue: LiveRequestQueue;
  readonly runConfig?: RunConfig;
  /** Interrupts the turn that runs, and ends the live session. */
  readonly abortSignal?: AbortSignal;
  /** A resumption handle that the caller has kept. Default: the newest handle of the session, if the server knows it. */
  readonly liveSessionResumptionHandle?: string;
}

/** The option names of `RunLiveParams`. */
export const RUN_LIVE_PARAMS_OPTIONS: OptionTable = optionTable<RunLiveParams>(
  'runLive',
  {
    appName: true,
    userId: true,
    sessionId: true,
    liveRequestQueue: true,
    runConfig: true,
    abortSignal: true,
    liveSessionResumptionHandle: true,
  },
  { newMessage: 'liveRequestQueue', queue: 'liveRequestQueue', signal: 'abortSignal' },
);

/** @throws InvalidInputError, UnknownFieldError */
export function checkRunLiveParams(params: RunLiveParams, appName: string): void {
  checkOptions(RUN_LIVE_PARAMS_OPTIONS, params);
  if (params.appName !== undefined && params.appName !== appName)
    throw new InvalidInputError(
      'appName',
      `is "${params.appName}", but this runner runs "${appName}": omit it.`,
    );
  const { liveRequestQueue: queue } = params;
  if (!(queue instanceof LiveRequestQueue))
    throw new InvalidInputError(
      'liveRequestQueue',
      'must be a LiveRequestQueue: create a new one.',
    );
}
