export type { Instrument, ObservedSession } from './instrument.ts';
export {
  chainObservers,
  loggingObserver,
  recordingObserver,
  type CommittedRecords,
  type Observer,
} from './observer.ts';
export {
  AgentMismatchError,
  CallNotPendingError,
  RuntimeClosedError,
  SessionQuarantinedError,
  UnknownAgentError,
} from './runtime-errors.ts';
export type { AddedInput, InputBatch } from './input-batch.ts';
export { openRuntime, type Runtime, type RuntimeOptions } from './runtime.ts';
export type {
  EventsOptions,
  PendingCall,
  SendOptions,
  Session,
  SessionOptions,
} from './session.ts';
export type { Turn } from './turn.ts';
