import { OutcomeUnknownError } from '../../core/internal.ts';

/** The reason of an attempt's abort signal when its runtime closes or loses the session. */
export class ShutdownError extends Error {}

/** The reason of an attempt's abort signal when an input is about to cancel its firing. */
export class CanceledError extends Error {}

/** The reason of an attempt's abort signal when it took longer than its `timeoutMs`. */
export class TimedOutError extends Error {}

/** Classifies a rejected attempt by its error and by the reason of its abort signal. */
export function failureKind(
  error: unknown,
  signal: AbortSignal,
): 'error' | 'timeout' | 'cancelled' | 'unknown' {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  if (signal.reason instanceof TimedOutError) return 'timeout';
  return signal.reason instanceof ShutdownError || signal.reason instanceof CanceledError
    ? 'cancelled'
    : 'error';
}
