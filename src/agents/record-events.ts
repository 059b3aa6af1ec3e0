import type { LogEntry } from '../core/index.ts';
import { heldValues } from '../net/index.ts';
import type { JournalRecord, Marking } from '../net/index.ts';
import { modelRequest, toolCall } from './places.ts';

/** The events of a record that gives none itself: another attempt, an upgrade. */
export function eventsOf(record: JournalRecord, marking: Marking): readonly LogEntry[] {
  if (record.kind === 'upgraded') {
    return [{ type: 'session.upgraded', from: record.from, to: record.to.hash }];
  }
  if (record.kind !== 'restarted') return [];
  const held = inputsOf(marking, record.firing);
  const failed = marking.firings.get(record.firing)?.reason;
  const { attempt, cause: reason } = record;
  const calls = heldValues(held, toolCall).map(({ invocationId, callId, name }): LogEntry => ({
    type: 'tool.attempt',
    invocationId,
    callId,
    name,
    attempt,
    reason,
  }));
  const requests = heldValues(held, modelRequest).map(({ invocationId }): LogEntry => ({
    type: 'model.attempt',
    invocationId,
    attempt,
    reason,
    ...(reason === 'retry' &&
      failed !== undefined && { error: { code: 'attempt_failed', message: failed } }),
  }));
  return [...calls, ...requests];
}

function inputsOf(marking: Marking, firing: number): Readonly<Record<string, readonly unknown[]>> {
  const inputs = [...(marking.firings.get(firing)?.inputs ?? [])];
  return Object.fromEntries(
    inputs.map(([place, tokens]) => [place, tokens.map(({ value }) => value)]),
  );
}
