import type { LogEvent, PendingCall } from 'petrichor';
import type { Point } from './tools.ts';

/** What the process that hosts the session is asked to do. */
export type HostCommand =
  | { readonly say: string }
  | { readonly approve: string }
  | { readonly deny: string; readonly message: string }
  /** The tool may go on from the point it reached. */
  | { readonly goOn: string }
  | { readonly close: true };

/** What it tells: events that are committed, calls that wait for a person, points that tools reached. */
export type HostMessage =
  | { readonly event: LogEvent }
  | { readonly pending: readonly PendingCall[] }
  | { readonly reached: Point };

/** Where everything is. */
export interface Paths {
  /** The folder the agent works on. */
  readonly root: string;
  readonly database: string;
  readonly report: string;
  readonly runs: string;
}
