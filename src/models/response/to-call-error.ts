import { omitUndefined } from '../../core/internal.ts';
import { FetchError } from '../../egress/internal.ts';
import { ModelError } from '../model/model-error.ts';
import type { Redact } from './redact.ts';
import { parseRetryAfter } from './retry-after.ts';
import { UnsupportedFeatureError } from '../model/unsupported-feature-error.ts';
import { toErrorFacts, type ErrorFacts } from './error-facts.ts';
import { classifyError } from './classify-error.ts';

/** The facts of a failed call. */
export interface FailedCall {
  readonly model: string;
  /** Whether the response had begun. */
  readonly answering: boolean;
  readonly redact: Redact;
}

/**
 * Converts an error that a provider package threw or streamed. The original is dropped: it contains
 * the whole request and whatever the provider echoed of it.
 */
export function toCallError(error: unknown, call: FailedCall): ModelError {
  if (error instanceof ModelError) return error;
  if (error instanceof FetchError) {
    const kind = error.code === 'fetch_failed' ? 'network' : 'bad_request';
    return new ModelError({ model: call.model, kind, message: call.redact(error.message) });
  }
  const facts = toErrorFacts(error);
  const message = call.redact(toSentence(facts));
  if (facts.name === 'AI_UnsupportedFunctionalityError') {
    return new UnsupportedFeatureError(call.model, facts.functionality ?? 'this', message);
  }
  const retryAfterMs = parseRetryAfter(facts);
  return new ModelError({
    model: call.model,
    kind: classifyError(facts, call),
    message,
    ...omitUndefined({ retryAfterMs }),
  });
}

function toSentence({ name, message, status, causes }: ErrorFacts): string {
  const text = message === '' ? (name === '' ? 'no error message' : name) : message;
  const details = causes.length === 0 ? '' : ` (${causes.join(', ')})`;
  const prefix =
    status !== undefined && status >= 400 ? `the provider responded with status ${status}: ` : '';
  const sentence = `${prefix}${text}${details}`;
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
