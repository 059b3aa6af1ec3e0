import type { Blobs } from '../encoding/blob-references.ts';
import { withoutNumbers } from '../encoding/numbered-items.ts';
import type { TrimPlan } from '../encoding/plan-trim.ts';
import type { JournalTrim, StepNumber } from '../store.ts';
import { packText } from './packed-step.ts';

/** What a trim writes, built before the transaction begins. */
export interface TrimWrites {
  /** The first step that has records. */
  readonly first: StepNumber;
  /** The step that gets the base. */
  readonly step: StepNumber;
  readonly base: string;
  readonly snapshot: string;
  /** The long strings of the base and the snapshot. */
  readonly blobs: Blobs;
  /** The hashes of the long strings that nothing else has. */
  readonly released: readonly string[];
  readonly addedBytes: number;
}

export function packTrim({ step, base, snapshot }: JournalTrim, plan: TrimPlan): TrimWrites {
  const blobs: Blobs = new Map();
  return {
    first: plan.first.step,
    step,
    base: packText(withoutNumbers([base], plan.at), blobs),
    snapshot: packText(snapshot, blobs),
    blobs,
    released: [...plan.released],
    addedBytes: plan.addedBytes,
  };
}
