export {
  all,
  allOf,
  append,
  each,
  many,
  matching,
  oneOf,
  optional,
  put,
  replacePrefix,
  truncate,
  upTo,
} from './arcs.ts';
export type { AllOf, Append, Inputs, MapWrites, Optional, TakenOf, UpTo } from './arcs.ts';
export { clockAhead, createSystemClock, systemClock } from './clock.ts';
export type { Clock, TimeSources } from './clock.ts';
export { compile } from './compile.ts';
export type { CompiledNet } from './compile.ts';
export { GraphvizMissingError, toDot, toSvg } from './diagram.ts';
export { Driver } from './driver.ts';
export type { DriverOptions, Injection, Shown, Step, StepOutcome } from './driver.ts';
export { Executor, SHUTDOWN } from './executor.ts';
export type { ExecutorOptions } from './executor.ts';
export type { Attempt, EffectResult, Settled } from './settled.ts';
export { faultPlace, unhandledFaultPlace } from './fault.ts';
export type { Fault } from './fault.ts';
export { checkInjection } from './injection.ts';
export { isSharedKey } from './map-state.ts';
export { applyRecord, emptyMarking, listIn, mapIn, tokensIn } from './marking.ts';
export type { Firing, Marking, Token } from './marking.ts';
export { compose, instance, join } from './compose.ts';
export { initially, net } from './net.ts';
export type { Net, Ports } from './net.ts';
export {
  NetBuildError,
  NetChangedError,
  OutputError,
  TokenSchemaError,
  UnknownPlaceError,
} from './net-errors.ts';
export type { DiagramOptions } from './net-graph.ts';
export { heldValues, outletValue, valuesIn } from './token-values.ts';
export { upgradeOf } from './net-version.ts';
export type { Migrate, Migration } from './net-version.ts';
export { listPlace, mapPlace, outlet, place } from './place.ts';
export type {
  AnyPlace,
  ListPlace,
  MapPlace,
  Outlet,
  Place,
  PlaceKind,
  TokenPlace,
} from './place.ts';
export type { JournalRecord, MapChange, RecordSeq } from './record.ts';
export { SimulatedClock } from './simulated-clock.ts';
export { fromSnapshot, oldestListRecord, toSnapshot } from './snapshot.ts';
export type { Snapshot } from './snapshot.ts';
export { effect, pure, running } from './transition.ts';
export type {
  Effect,
  EffectContext,
  EffectFailure,
  FiringToken,
  OnCrash,
  Retry,
  Transition,
} from './transition.ts';
