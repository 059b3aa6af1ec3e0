import type { LogEntry } from '../core/index.ts';
import { heldValues, SHUTDOWN } from '../net/index.ts';
import type { JournalRecord, Marking, TokenPlace } from '../net/index.ts';
import { everywhere } from './own-place.ts';
import { modelReady, modelRequest, toolCall } from './places.ts';

/** The events of a record that gives none itself: a wait for another attempt, that attempt, an upgrade. */
export function eventsOf(record: JournalRecord, marking: Marking): readonly LogEntry[] {
  if (record.kind === 'upgraded') {
    return [{ type: 'session.upgraded', from: record.from, to: record.to.hash }];
  }
  if (record.kind === 'retrying') return waitEvents(record, marking);
  if (record.kind !== 'restarted' || isCallback(record.t)) return [];
  const held = inputsOf(marking, record.firing);
  const failed = marking.firings.get(record.firing)?.reason;
  const { attempt, cause: reason } = record;
  const calls = heldAnywhere(held, toolCall).map(({ invocationId, callId, name }): LogEntry => ({
    type: 'tool.attempt',
    invocationId,
    callId,
    name,
    attempt,
    reason,
  }));
  const requests = [...heldAnywhere(held, modelRequest), ...heldAnywhere(held, modelReady)].map(
    ({ invocationId }): LogEntry => ({
      type: 'model.attempt',
      invocationId,
      attempt,
      reason,
      ...(reason === 'retry' &&
        failed !== undefined && { error: { code: 'attempt_failed', message: failed } }),
    }),
  );
  return [...calls, ...requests];
}

/** A model call that waits for its next attempt says so when the wait begins. */
function waitEvents(
  { t, firing, at, dueAt, reason }: Extract<JournalRecord, { readonly kind: 'retrying' }>,
  marking: Marking,
): readonly LogEntry[] {
  // At a shutdown nothing waits for a time: the next owner begins the attempt at once.
  if (isCallback(t) || reason === SHUTDOWN) return [];
  const held = inputsOf(marking, firing);
  const now = marking.firings.get(firing);
  // After a wait of no time the next attempt began in the same step.
  const attempt = (now?.attempt ?? 1) - (now?.retryAt === undefined ? 1 : 0);
  return [...heldAnywhere(held, modelRequest), ...heldAnywhere(held, modelReady)].map(
    ({ invocationId }): LogEntry => ({
      type: 'turn.rescheduled',
      invocationId,
      attempt,
      retryInMs: dueAt - at,
      error: { code: 'attempt_failed', message: reason },
    }),
  );
}

/** Callbacks are asked again without a word: only what they say counts. */
function isCallback(transition: string): boolean {
  return /(^|\/)\w+\.(before|after|on-error)$/.test(transition);
}

function inputsOf(marking: Marking, firing: number): Readonly<Record<string, readonly unknown[]>> {
  const inputs = [...(marking.firings.get(firing)?.inputs ?? [])];
  return Object.fromEntries(
    inputs.map(([place, tokens]) => [place, tokens.map(({ value }) => value)]),
  );
}

function heldAnywhere<T>(
  held: Readonly<Record<string, readonly unknown[]>>,
  place: TokenPlace<T>,
): readonly T[] {
  return everywhere(place, Object.keys(held)).flatMap((one) => heldValues(held, one));
}
