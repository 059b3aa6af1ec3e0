import { managedProofs } from './managed.ts';
import { testProof } from './test-proof.ts';

for (const proof of managedProofs) testProof(proof);
