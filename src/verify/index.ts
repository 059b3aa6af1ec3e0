export type { Bounds } from './properties/bounds.ts';
export {
  atMost,
  atMostOnce,
  atMostOneCommits,
  bounded,
  canFire,
  costAtMost,
  deadlockFree,
  eventOutBounded,
  eventually,
  eventuallyAnswered,
  everyNodeReachable,
  isolated,
  joinedOrDeadLettered,
  joinsComplete,
  mutualExclusion,
  neverFiresAfter,
  neverStale,
  neverTakes,
  noFireAfterEndInvocation,
  noToolAfterInterrupt,
  noStaleCommits,
  placeBound,
  precedes,
  reaskBudgetIsBounded,
  settles,
  unreachable,
} from './properties/create-property.ts';
export type { Property, QuiescentMarking } from './properties/property.ts';
export { formatProperty, parseProperty } from './properties/property-text.ts';
export { propertyFromJson, propertyToJson } from './properties/property-json.ts';
export { PropertySyntaxError } from './properties/property-syntax-error.ts';
export { netProof } from './net-proof.ts';
export type { NetProof } from './net-proof.ts';
export { prove } from './prove.ts';
export type { ProveOptions } from './prove.ts';
export type { ProofObserver, ProofProgress } from './progress.ts';
export type { Reductions } from './reduction/reductions.ts';
export { formatReport, isProved } from './report.ts';
export type { ProofReport, PropertyResult, Verdict } from './report.ts';
export { drawTrace } from './trace/draw-trace.ts';
export type { TraceDrawing } from './trace/draw-trace.ts';
export { formatTrace } from './trace/trace.ts';
export type { Trace, TraceStep } from './trace/trace.ts';
export { traceToSvg } from './trace/trace-to-svg.ts';
export {
  InvalidContractError,
  InvalidPropertyError,
  ReplayError,
  UnknownNameError,
} from './properties/verify-errors.ts';
export { anySolver, nativeZ3, npmZ3 } from './smt/solver.ts';
export type { Solver, SolverAnswer, SolverLimits } from './smt/solver.ts';
export { createFileProofCache } from './file-proof-cache.ts';
export type { CachedResult, ProofCache } from './proof-cache.ts';
export type { ContractResult } from './contracts/contract-check.ts';
export type {
  NetComponent,
  ComponentTree,
  Contract,
  ContractEvent,
  StepPattern,
} from './contracts/contract.ts';
