import type { Json } from '../../core/index.ts';
import { toolError } from '../../tools/internal.ts';
import type { Answer } from '../vocabulary/messages.ts';
import type { Call, CallResult, ParkedCall } from '../vocabulary/tool-call.ts';
import { toCall, toCallResult } from './call-result.ts';

/** The call that runs again after a parked call with `resume` was answered. */
export function resumedCall(parked: ParkedCall, resume: Json, answer: Answer): Call {
  const { response = { result: null }, isError = false } = answer;
  return { ...toCall(parked), answer: { response, isError, resume } };
}

/** The result of a parked call that was denied or answered from outside. */
export function answeredResult(parked: ParkedCall, answer: Answer): CallResult {
  const call = toCall(parked);
  if (answer.decision === 'answered') {
    return toCallResult({
      ...call,
      outcome: answer.isError === true ? 'error' : 'ok',
      response: answer.response ?? { result: null },
    });
  }
  const reason = answer.message ?? 'No reason was given.';
  if (parked.reason === 'crash') {
    const message = `This was cut off while it ran, so it may have happened; a person decided not to run it again. ${reason}`;
    return toCallResult({
      ...call,
      outcome: 'unknown',
      response: toolError('outcome_unknown', message),
    });
  }
  return toCallResult({
    ...call,
    outcome: 'denied',
    response: toolError('denied', `A person denied this call. ${reason}`),
  });
}
