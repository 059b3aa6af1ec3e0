import type { SessionKey } from '../../core/index.ts';
import type { InputSeq, StoredPendingCall } from '../store.ts';
import type { InputKey } from './inbox-row.ts';
import type { PackedStep } from './packed-step.ts';
import type { FullRow } from './session-row.ts';
import type { SessionUsage } from './usage-groups.ts';

/** What the accepted steps of a commit write, beside shared state. */
export interface StepWrites {
  readonly steps: readonly AcceptedStep[];
  /** The new columns of each session. */
  readonly sessions: readonly SessionColumns[];
  /** Long strings. One that is stored already stays. */
  readonly blobs: readonly BlobRow[];
  /** The sessions whose calls are replaced in the index of pending calls. */
  readonly changedPending: readonly FullRow['id'][];
  /** Their entries in the index. */
  readonly pending: readonly PendingCallEntry[];
  /** Added to the totals, in this order. */
  readonly usage: readonly SessionUsage[];
  /** The inputs up to `upTo` are read. */
  readonly consumed: readonly { readonly id: FullRow['id']; readonly upTo: number }[];
  /** The dedupe keys of accepted inputs, which are new. */
  readonly inputKeys: readonly (InputKey & { readonly inputSeq: InputSeq })[];
  readonly snapshots: readonly SnapshotRow[];
}

/** An accepted step, with the id of its session and the end of the journal after it. */
export interface AcceptedStep {
  readonly id: FullRow['id'];
  readonly lastRecord: number;
  readonly lastSeq: number;
  /** The numbers of the inputs that it accepts. */
  readonly inputs: readonly InputSeq[];
  readonly packed: PackedStep;
}

/** The columns of a session that a commit changes. */
export type SessionColumns = Pick<
  FullRow,
  | 'id'
  | 'head'
  | 'last_seq'
  | 'last_record'
  | 'last_input'
  | 'inbox_up_to'
  | 'status'
  | 'phase'
  | 'in_flight'
  | 'next_due_at'
  | 'net_hash'
  | 'pending'
  | 'updated_at'
> & {
  /** The bytes that the steps of this commit add. */
  readonly addedBytes: number;
};

export interface BlobRow {
  readonly id: FullRow['id'];
  readonly hash: string;
  readonly text: string;
}

/** A call that waits, in the index of pending calls. */
export interface PendingCallEntry {
  readonly id: FullRow['id'];
  readonly key: SessionKey;
  readonly agent: string;
  readonly call: StoredPendingCall;
}

export interface SnapshotRow {
  readonly id: FullRow['id'];
  readonly step: number;
  readonly marking: string;
}
