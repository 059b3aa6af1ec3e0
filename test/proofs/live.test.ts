import { liveProofs } from './live.ts';
import { testProof } from './test-proof.ts';

for (const proof of liveProofs) testProof(proof);
