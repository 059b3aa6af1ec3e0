import { measureAbort, type Abort } from './abort.ts';
import { measureBridge, type Bridge } from './bridge.ts';
import { measureDeltas, type Deltas } from './deltas.ts';
import { measureFirstTurns, type FirstTurns } from './first-turns.ts';
import { measureFreshSessions, type FreshSessions } from './fresh-sessions.ts';
import { measureIdleNodes, type IdleNodes } from './idle-nodes.ts';
import {
  measureIdleSessions,
  measureSessionsInMemory,
  type IdleSessions,
} from './idle-sessions.ts';
import { measureImportTime, type ImportTime } from './import-time.ts';
import { measureInstalledPackages, type InstalledPackages } from './installed-packages.ts';
import { measureLiveFrames, type FrameCost } from './live-frames.ts';
import { measureLiveHub, type LiveHubCost } from './live-hub.ts';
import { measureLiveRecovery, type LiveRecovery } from './live-recovery.ts';
import { measureLongLiveRun, type LongLiveRun } from './long-live-run.ts';
import { measureLongSession, type LongSession } from './long-session.ts';
import { measureManaged, type ManagedSpeeds } from './managed.ts';
import { measureNet, type NetSpeeds } from './net.ts';
import { measureParallelTools, type ParallelTools } from './parallel-tools.ts';
import { measurePlantedFaults, measureProofs, type FaultCost, type ProofCost } from './proofs.ts';
import { measureRunnerTurns, type RunnerTurns } from './runner-turns.ts';
import { measureServer, type ServerStreams } from './server.ts';
import { measureSqliteTurns, type SqliteTurns } from './sqlite-turns.ts';
import { measureTakeover, type Takeover } from './takeover.ts';
import { measureTwoNodes, type TwoNodes } from './two-nodes.ts';
import { measureTimerScans, type TimerScans } from './timer-scans.ts';
import { measureWorkers, type WorkerCost } from './workers.ts';
import { measureVerify, type Verification } from './verify.ts';

/** What each measurement gives. */
export interface Measured {
  readonly freshSessions: FreshSessions;
  readonly sqliteTurns: SqliteTurns;
  readonly firstTurns: FirstTurns;
  readonly longSession: LongSession;
  readonly runnerTurns: RunnerTurns;
  readonly net: NetSpeeds;
  readonly idleSessions: IdleSessions;
  readonly sessionsInMemory: IdleSessions;
  readonly timerScans: TimerScans | null;
  readonly idleNodes: IdleNodes | null;
  readonly takeover: Takeover | null;
  readonly twoNodes: TwoNodes | null;
  readonly workers: readonly WorkerCost[];
  readonly deltas: Deltas;
  readonly bridge: Bridge;
  readonly liveFrames: readonly FrameCost[];
  readonly liveHub: LiveHubCost;
  readonly liveRecovery: LiveRecovery;
  readonly longLiveRun: LongLiveRun;
  readonly parallelTools: ParallelTools;
  readonly abort: Abort;
  readonly managed: ManagedSpeeds;
  readonly server: ServerStreams;
  readonly verify: readonly Verification[];
  readonly proofs: readonly ProofCost[];
  readonly plantedFaults: readonly FaultCost[];
  readonly importTime: ImportTime;
  readonly installedPackages: InstalledPackages;
}

export type MeasurementName = keyof Measured;

/** `quick` takes a moment and shows that it works; its times mean nothing. */
export type Measure<Name extends MeasurementName> = (options: {
  readonly quick: boolean;
}) => Promise<Measured[Name]>;

/** All there is to measure, in the order of the table. */
export const measurements: { readonly [Name in MeasurementName]: Measure<Name> } = {
  freshSessions: measureFreshSessions,
  sqliteTurns: measureSqliteTurns,
  firstTurns: measureFirstTurns,
  longSession: measureLongSession,
  runnerTurns: measureRunnerTurns,
  net: measureNet,
  idleSessions: measureIdleSessions,
  sessionsInMemory: measureSessionsInMemory,
  timerScans: measureTimerScans,
  idleNodes: measureIdleNodes,
  takeover: measureTakeover,
  twoNodes: measureTwoNodes,
  workers: measureWorkers,
  deltas: measureDeltas,
  bridge: measureBridge,
  liveFrames: measureLiveFrames,
  liveHub: measureLiveHub,
  liveRecovery: measureLiveRecovery,
  longLiveRun: measureLongLiveRun,
  parallelTools: measureParallelTools,
  abort: measureAbort,
  managed: measureManaged,
  server: measureServer,
  verify: measureVerify,
  proofs: measureProofs,
  plantedFaults: measurePlantedFaults,
  importTime: measureImportTime,
  installedPackages: measureInstalledPackages,
};

export function isMeasurementName(name: string): name is MeasurementName {
  return Object.hasOwn(measurements, name);
}
