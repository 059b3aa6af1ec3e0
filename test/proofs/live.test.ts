import { liveAgentsProofs } from './live-agents.ts';
import { liveProofs } from './live.ts';
import { testProof } from './test-proof.ts';

for (const proof of [...liveProofs, ...liveAgentsProofs]) testProof(proof);
