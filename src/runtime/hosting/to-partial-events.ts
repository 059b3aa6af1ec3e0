import * as v from 'valibot';
import type { PartialEvent, PartialText } from '../../core/index.ts';
import type { EffectProgress } from '../../net/index.ts';

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

const progressSchema: v.GenericSchema<
  unknown,
  Omit<PartialText, 'type' | 'firingId' | 'attempt'>
> = v.object({
  kind: v.picklist(['text', 'thinking', 'progress']),
  text: v.string(),
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
