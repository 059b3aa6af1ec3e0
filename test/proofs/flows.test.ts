import { flowProofs } from './flows.ts';
import { testProof } from './test-proof.ts';

for (const proof of flowProofs) testProof(proof);
