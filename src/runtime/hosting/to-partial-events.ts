import * as v from 'valibot';
import type { LogEvent, PartialEvent, PartialText } from '../../core/index.ts';
import type { EffectProgress, JournalRecord } from '../../net/index.ts';

/**
 * Converts the progress of an effect to partial events for clients. Progress in any other form is internal: no
 * events.
 */
export function toPartialEvents({
  firingId,
  attempt,
  partial,
}: EffectProgress): readonly PartialEvent[] {
  const parsed = v.safeParse(progressSchema, partial);
  return parsed.success ? [{ type: 'partial', firingId, attempt, ...parsed.output }] : [];
}

/**
 * The events that take back the progress of attempts that failed: of each firing that starts again, and of each model
 * call that is asked again by another firing.
 */
export function toPartialResets(
  uid: string,
  records: readonly JournalRecord[],
  events: readonly LogEvent[],
): readonly PartialEvent[] {
  const isRescheduled = events.some(({ type }) => type === 'turn.rescheduled');
  const resets: PartialEvent[] = [];
  for (const record of records) {
    if (record.kind === 'restarted') resets.push(toReset(uid, record.firing, record.attempt));
    else if (isRescheduled && record.kind === 'ended' && record.outcome !== 'ok')
      resets.push(toReset(uid, record.firing, 1));
  }
  return resets;
}

function toReset(uid: string, firing: number, attempt: number): PartialEvent {
  return { type: 'partial.reset', firingId: `${uid}/${firing}`, attempt };
}

const progressSchema: v.GenericSchema<
  unknown,
  Omit<PartialText, 'type' | 'firingId' | 'attempt'>
> = v.object({
  kind: v.picklist(['text', 'thinking', 'progress']),
  text: v.string(),
  offset: v.exactOptional(v.number()),
  callId: v.exactOptional(v.string()),
  invocationId: v.string(),
  author: v.exactOptional(v.string()),
  branch: v.exactOptional(v.string()),
  nodeInfo: v.exactOptional(
    v.object({
      path: v.string(),
      runId: v.exactOptional(v.string()),
      name: v.exactOptional(v.string()),
    }),
  ),
});
