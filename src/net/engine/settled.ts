import type { CompiledTransition } from '../build/compile.ts';
import type { OutletValue } from './check-outputs.ts';
import type { JournalRecord, RecordSeq } from '../journal/record.ts';

/** The result of an attempt of an effect. */
export type EffectResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly kind: 'error' | 'timeout' | 'cancelled' | 'unknown';
      readonly error: unknown;
    };

/** An attempt to begin, with the tokens that `run` receives. */
export interface Attempt {
  readonly firing: RecordSeq;
  readonly firingId: string;
  readonly attempt: number;
  readonly t: CompiledTransition;
  readonly tokens: Record<string, unknown>;
}

/** A value that left the net through an outlet, with the number of the record that produced it. */
export interface SettledOutlet extends OutletValue {
  readonly record: RecordSeq;
}

/** One settled step: all records, outlet values and attempts since the previous one. */
export interface Settled {
  readonly records: readonly JournalRecord[];
  readonly outlets: readonly SettledOutlet[];
  /** Attempts to begin after the records are durable. */
  readonly attempts: readonly Attempt[];
}
