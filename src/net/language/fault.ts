import * as v from 'valibot';
import { place } from './place.ts';
import type { TokenPlace } from './place.ts';

/** A firing that could not do what it declared: which, why, and the tokens it had taken, by place. */
export interface Fault {
  readonly transition: string;
  readonly code: string;
  readonly message: string;
  readonly inputs: Readonly<Record<string, readonly unknown[]>>;
}

const FaultSchema: v.GenericSchema<unknown, Fault> = v.object({
  transition: v.string(),
  code: v.string(),
  message: v.string(),
  inputs: v.record(v.string(), v.array(v.unknown())),
});

/**
 * Where every transition's implicit fault outcome goes. A net that takes from it decides what a failure of its own
 * logic means; in a net that does not, faults stay here and are seen in the marking.
 */
export const faultPlace: TokenPlace<Fault> = place('net.fault', FaultSchema);

/** Where a fault of a transition that takes from `net.fault` goes. Nothing takes it: it is there to be seen. */
export const unhandledFaultPlace: TokenPlace<Fault> = place('net.fault.unhandled', FaultSchema);
