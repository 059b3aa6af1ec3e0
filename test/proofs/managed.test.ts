import { modelRetryProof, outcomeRoundsProof, sessionControlProof } from './managed.ts';
import { testProof } from './test-proof.ts';

for (const proof of [sessionControlProof, modelRetryProof, outcomeRoundsProof]) testProof(proof);
