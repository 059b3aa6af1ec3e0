import { agentProof } from './agent.ts';
import { appSessionProof, appendOnlySessionProof } from './app-session.ts';
import { compactionProof } from './compaction.ts';
import { duplexSessionProof } from './duplex-session.ts';
import { fanOutProof } from './fan-out.ts';
import { flowProofs } from './flows.ts';
import { liveAgentsProofs } from './live-agents.ts';
import { liveProofs } from './live.ts';
import { managedProofs } from './managed.ts';
import type { NetProof } from './net-proof.ts';
import { firstWinsProof, optimisticCommitProof, quorumProof } from './patterns.ts';
import { raceOfThreeProof, raceOfTwoProof } from './speculative-race.ts';
import { scheduleProof } from './schedules.ts';
import { staleResultsProof } from './stale-results.ts';
import {
  fallbackModelStepProof,
  modelStepProof,
  promptBuilderProof,
  routerProof,
  sessionWriterProof,
  toolDispatchProof,
  transferRouterProof,
} from './subnets.ts';

/** All proofs of shipped nets, in the order of the list. */
export const allProofs: readonly NetProof[] = [
  agentProof,
  promptBuilderProof,
  modelStepProof,
  fallbackModelStepProof,
  routerProof,
  toolDispatchProof,
  sessionWriterProof,
  transferRouterProof,
  ...flowProofs,
  ...managedProofs,
  appSessionProof,
  appendOnlySessionProof,
  compactionProof,
  fanOutProof,
  staleResultsProof,
  raceOfTwoProof,
  raceOfThreeProof,
  duplexSessionProof,
  firstWinsProof,
  quorumProof,
  optimisticCommitProof,
  ...liveProofs,
  ...liveAgentsProofs,
  scheduleProof,
];
