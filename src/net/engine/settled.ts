import type { CompiledTransition } from '../build/compile.ts';
import type { OutletValue } from './check-outputs.ts';
import type { JournalRecord, RecordSeq } from '../journal/record.ts';

/** What an attempt of an effect came to. */
export type EffectResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown';
      readonly error: unknown;
    };

/** An attempt to begin: its inputs as `run` gets them. */
export interface Attempt {
  readonly firing: RecordSeq;
  readonly firingId: string;
  readonly attempt: number;
  readonly t: CompiledTransition;
  readonly tokens: Record<string, unknown>;
}

/** A value that left the net, with the record that gave it. */
export interface SettledOutlet extends OutletValue {
  readonly record: RecordSeq;
}

/** Everything since the last time it was asked for: one settled step. */
export interface Settled {
  readonly records: readonly JournalRecord[];
  readonly outlets: readonly SettledOutlet[];
  /** Attempts to begin once the records are durable. */
  readonly attempts: readonly Attempt[];
}
