import {
  holdsLongString,
  splitBlobs,
  MAX_INLINE_JSON_LENGTH,
  type Blobs,
} from '../encoding/blob-references.ts';
import { changesList } from '../encoding/changes-list.ts';
import { withoutNumbers } from '../encoding/numbered-items.ts';
import type { SettledStep } from '../store.ts';

/** The packed columns of a step, built before the transaction begins. */
export interface PackedStep {
  readonly step: SettledStep;
  readonly records: string;
  readonly events: string;
  readonly lists: boolean;
  readonly snapshot: string | undefined;
  readonly pending: string | null;
  /** The long strings of all columns. */
  readonly blobs: Blobs;
  /** The bytes of records and events as JSON, with their long strings. */
  readonly bytes: number;
}

export function packStep(step: SettledStep): PackedStep {
  const blobs: Blobs = new Map();
  const { pending } = step.summary;
  const records = withoutNumbers(step.records, step.at);
  const events = withoutNumbers(step.events, step.at);
  const [recordText, eventText] = [JSON.stringify(records), JSON.stringify(events)];
  return {
    step,
    records: splitText(recordText, records, blobs),
    events: splitText(eventText, events, blobs),
    bytes: Buffer.byteLength(recordText) + Buffer.byteLength(eventText),
    lists: changesList(step.records),
    snapshot: step.snapshot === undefined ? undefined : packText(step.snapshot, blobs),
    pending: pending.length === 0 ? null : JSON.stringify(pending),
    blobs,
  };
}

/**
 * Converts a value to JSON text. Adds strings that are too long for a row to `blobs`; text that refers to them starts
 * with `&`.
 */
export function packText(value: unknown, blobs: Blobs): string {
  return splitText(JSON.stringify(value), value, blobs);
}

function splitText(text: string, value: unknown, blobs: Blobs): string {
  const isSplit = text.length > MAX_INLINE_JSON_LENGTH && holdsLongString(value);
  return isSplit ? `&${JSON.stringify(splitBlobs(value, blobs))}` : text;
}
