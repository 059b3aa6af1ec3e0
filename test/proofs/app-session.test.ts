import { appSessionProof, appendOnlySessionProof } from './app-session.ts';
import { testProof } from './test-proof.ts';

for (const proof of [appSessionProof, appendOnlySessionProof]) testProof(proof);
