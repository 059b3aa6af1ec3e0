import { firstWinsProof, optimisticCommitProof, quorumProof } from './patterns.ts';
import { testProof } from './test-proof.ts';

for (const proof of [firstWinsProof, quorumProof, optimisticCommitProof]) testProof(proof);
