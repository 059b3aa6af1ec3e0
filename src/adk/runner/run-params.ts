import {
  assertInputSize,
  DEFAULT_MAX_INPUT_BYTES,
  optionTable,
  parseUserContent,
  userContent,
} from '../../core/index.ts';
import type { Content, InvocationId, OptionTable, StateDelta } from '../../core/index.ts';
import type { RunConfig } from '../contracts/run-config.ts';

/**
 * One run in a session: a message, answers to calls that wait, or the id of an invocation to go on with. ADK's
 * parameters of `runAsync`.
 */
export interface RunParams {
  /** The runner's own, so that the address of a session can be given whole. Another one is refused. */
  readonly appName?: string;
  readonly userId: string;
  readonly sessionId: string;
  /** A message; or the results and confirmations that calls wait for, as function responses with their ids. */
  readonly newMessage?: Content | { readonly parts: Content['parts'] } | string;
  /** Without a message: an invocation to go on with, after a crash or a lost connection. */
  readonly invocationId?: InvocationId;
  /** State to write before the agents run. */
  readonly stateDelta?: StateDelta;
  readonly runConfig?: RunConfig;
  /** Interrupts the invocation. */
  readonly abortSignal?: AbortSignal;
  /** Whether the message is among the events; unless said, it is not. */
  readonly yieldUserMessage?: boolean;
}

/** What one run may be given. */
export const RUN_PARAMS_OPTIONS: OptionTable = optionTable<RunParams>(
  'runAsync',
  {
    appName: true,
    userId: true,
    sessionId: true,
    newMessage: true,
    invocationId: true,
    stateDelta: true,
    runConfig: true,
    abortSignal: true,
    yieldUserMessage: true,
  },
  { message: 'newMessage', signal: 'abortSignal', state: 'stateDelta' },
);

/** Asked anew each time: it changes while the runner waits. */
export function isAborted({ abortSignal }: RunParams): boolean {
  return abortSignal?.aborted === true;
}

/** The message of a run; answers to calls among its parts are checked by those who know what waits. */
export function parseNewMessage(newMessage: NonNullable<RunParams['newMessage']>): Content {
  assertInputSize(newMessage, 'newMessage', DEFAULT_MAX_INPUT_BYTES);
  if (typeof newMessage === 'string') return userContent(newMessage);
  const message = 'role' in newMessage ? newMessage : { ...newMessage, role: 'user' };
  return parseUserContent(message, { functionResponses: 'allow' });
}
