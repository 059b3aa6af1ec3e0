import { omitUndefined } from '../../core/internal.ts';
import type { LogEntry } from '../../core/index.ts';
import { inputValues, SHUTDOWN } from '../../net/index.ts';
import type { JournalRecord, Marking, TokenPlace } from '../../net/index.ts';
import { placesNamed } from './scoped-place.ts';
import { modelReady, modelRequest } from '../vocabulary/model-call.ts';
import { toolCall } from '../vocabulary/tool-call.ts';

/** The events for records that contain none: a wait before a retry, another attempt, an upgrade. */
export function recordEvents(record: JournalRecord, marking: Marking): readonly LogEntry[] {
  if (record.kind === 'upgraded') {
    return [{ type: 'session.upgraded', from: record.from, to: record.to.hash }];
  }
  if (record.kind === 'retrying') return rescheduledEvents(record, marking);
  if (record.kind !== 'restarted' || isCallback(record.t)) return [];
  const held = readFiringInputs(marking, record.firing);
  const failed = marking.firings.get(record.firing)?.reason;
  const { attempt, cause: reason } = record;
  const calls = heldValuesNamed(held, toolCall).map(({ invocationId, callId, name }): LogEntry => ({
    type: 'tool.attempt',
    invocationId,
    callId,
    name,
    attempt,
    reason,
  }));
  const requests = [
    ...heldValuesNamed(held, modelRequest),
    ...heldValuesNamed(held, modelReady),
  ].map(({ invocationId }): LogEntry => ({
    type: 'model.attempt',
    invocationId,
    attempt,
    reason,
    ...omitUndefined({
      error:
        reason === 'retry' && failed !== undefined
          ? {
              /**
               * An attempt of a model call failed, and another attempt follows. It is the `error` of `model.attempt`
               * and `turn.rescheduled`.
               * @remedy None: the call is retried. The message has the reason of the failed attempt.
               */
              code: 'attempt_failed',
              message: failed,
            }
          : undefined,
    }),
  }));
  return [...calls, ...requests];
}

/** `turn.rescheduled`, emitted when a model call begins to wait for its next attempt. */
function rescheduledEvents(
  { t, firing, at, dueAt, reason }: Extract<JournalRecord, { readonly kind: 'retrying' }>,
  marking: Marking,
): readonly LogEntry[] {
  // A shutdown is not a timed wait: the next owner begins the attempt at once.
  if (isCallback(t) || reason === SHUTDOWN) return [];
  const held = readFiringInputs(marking, firing);
  const current = marking.firings.get(firing);
  // With a wait of 0 ms the next attempt has already begun in the same step.
  const attempt = (current?.attempt ?? 1) - (current?.retryAt === undefined ? 1 : 0);
  return [...heldValuesNamed(held, modelRequest), ...heldValuesNamed(held, modelReady)].map(
    ({ invocationId }): LogEntry => ({
      type: 'turn.rescheduled',
      invocationId,
      attempt,
      retryInMs: dueAt - at,
      error: { code: 'attempt_failed', message: reason },
    }),
  );
}

/** Callbacks run again without an event: only their result is logged. */
function isCallback(transition: string): boolean {
  return /(^|\/)\w+\.(before|after|on-error)$/.test(transition);
}

/** The tokens that a firing in flight holds, by place. */
export function readFiringInputs(
  marking: Marking,
  firing: number,
): Readonly<Record<string, readonly unknown[]>> {
  const inputs = [...(marking.firings.get(firing)?.inputs ?? [])];
  return Object.fromEntries(
    inputs.map(([place, tokens]) => [place, tokens.map(({ value }) => value)]),
  );
}

/** The held tokens of this place, in any scope. */
export function heldValuesNamed<T>(
  held: Readonly<Record<string, readonly unknown[]>>,
  place: TokenPlace<T>,
): readonly T[] {
  return placesNamed(place, Object.keys(held)).flatMap((one) => inputValues(held, one));
}
