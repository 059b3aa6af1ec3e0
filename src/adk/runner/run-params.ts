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
 * One run in a session: a new message, answers to waiting calls, or the id of an invocation to resume. ADK's parameters
 * of `runAsync`.
 */
export interface RunParams {
  /** Must be the runner's own app name if set, so that the address of a session can be passed as it is. */
  readonly appName?: string;
  readonly userId: string;
  readonly sessionId: string;
  /** A message, or the results and confirmations that calls wait for, as function responses with their ids. */
  readonly newMessage?: Content | { readonly parts: Content['parts'] } | string;
  /** Without a message: the invocation to resume, after a crash or a lost connection. */
  readonly invocationId?: InvocationId;
  /** State to write before the agents run. */
  readonly stateDelta?: StateDelta;
  readonly runConfig?: RunConfig;
  /** Interrupts the invocation. */
  readonly abortSignal?: AbortSignal;
  /** Whether the user's message is yielded as an event. Default: false. */
  readonly yieldUserMessage?: boolean;
}

/** The option names of `RunParams`. */
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
  {
    message: 'newMessage',
    signal: 'abortSignal',
    state: 'stateDelta',
    customMetadata: 'runConfig',
  },
);

/** A function, because the value changes while the runner waits. */
export function isAborted({ abortSignal }: RunParams): boolean {
  return abortSignal?.aborted === true;
}

/** Parses the message of a run. Function responses in it are checked later, against the waiting calls. */
export function parseNewMessage(newMessage: NonNullable<RunParams['newMessage']>): Content {
  assertInputSize(newMessage, 'newMessage', DEFAULT_MAX_INPUT_BYTES);
  if (typeof newMessage === 'string') return userContent(newMessage);
  const message = 'role' in newMessage ? newMessage : { ...newMessage, role: 'user' };
  return parseUserContent(message, { functionResponses: 'allow' });
}
