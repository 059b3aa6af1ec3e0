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
} from './language/arcs.ts';
export type {
  AllOf,
  Append,
  Each,
  Inputs,
  MapWrites,
  Optional,
  InputValues,
  KeySource,
  UpTo,
} from './language/arcs.ts';
export { clockAhead, createSystemClock, systemClock } from './clock/clock.ts';
export type { Clock, TimeSources } from './clock/clock.ts';
export { compile } from './build/compile.ts';
export type { CompiledNet } from './build/compile.ts';
export { GraphvizMissingError, toDot, toSvg } from './diagram/diagram.ts';
export { Driver } from './engine/driver.ts';
export type {
  DriverOptions,
  Injection,
  EffectProgress,
  Step,
  StepOutcome,
} from './engine/driver-options.ts';
export { Executor } from './engine/executor.ts';
export type { ExecutorOptions } from './engine/executor-options.ts';
export { SHUTDOWN } from './engine/firing-attempts.ts';
export type { Attempt, EffectResult, Settled } from './engine/settled.ts';
export { faultPlace, unhandledFaultPlace } from './language/fault.ts';
export type { Fault } from './language/fault.ts';
export { checkInjection } from './engine/injection.ts';
export { isSharedKey } from '../core/internal.ts';
export { applyRecord } from './journal/apply-record.ts';
export { emptyMarking, listIn, mapIn, tokensIn } from './journal/marking.ts';
export type { Firing, Marking, Token } from './journal/marking.ts';
export type { ClockedToken, FiringChange, MarkingChange } from './journal/marking-change.ts';
export { compose, instance, join } from './language/compose.ts';
export { initialToken, net } from './language/net.ts';
export type { Net, Ports } from './language/net.ts';
export {
  FiringKeyError,
  NetBuildError,
  NetChangedError,
  OutputError,
  TokenSchemaError,
  UnknownPlaceError,
} from './language/net-errors.ts';
export type { DiagramOptions } from './diagram/net-graph.ts';
export { inputValues, outletValue, valuesIn } from './engine/token-values.ts';
export { planUpgrade } from './engine/plan-upgrade.ts';
export type { Migrate, Migration } from './engine/plan-upgrade.ts';
export { listPlace, mapPlace, outlet, place } from './language/place.ts';
export type {
  AnyPlace,
  ListPlace,
  MapPlace,
  Outlet,
  Place,
  PlaceKind,
  TokenPlace,
} from './language/place.ts';
export type { JournalRecord, MapChange, RecordSeq, Trimmed } from './journal/record.ts';
export { SimulatedClock } from './clock/simulated-clock.ts';
export { fromSnapshot, oldestListRecord, toSnapshot } from './journal/snapshot.ts';
export type { Snapshot } from './journal/marking-format.ts';
export type { FiringKeySource, FiringToken } from './language/firing-token.ts';
export type { LabelRule } from './language/label-rule.ts';
export { effect, pure, running } from './language/transition.ts';
export type {
  Effect,
  EffectContext,
  EffectFailure,
  CrashPolicy,
  Retry,
  Transition,
} from './language/transition.ts';
export { SettleLimitError } from './engine/settle-limit.ts';
