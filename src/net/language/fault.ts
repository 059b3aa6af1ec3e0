import * as v from 'valibot';
import { place } from './place.ts';
import type { TokenPlace } from './place.ts';

/** A firing that failed: its transition, the error, and the tokens it had taken, by place. */
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
 * The place that receives the fault of every failed firing. A net that takes from it handles its own faults. In any
 * other net the faults stay here and are visible in the marking.
 */
export const faultPlace: TokenPlace<Fault> = place('net.fault', FaultSchema);

/** The place that receives the fault of a transition that takes from `net.fault`. No transition takes from it. */
export const unhandledFaultPlace: TokenPlace<Fault> = place('net.fault.unhandled', FaultSchema);
