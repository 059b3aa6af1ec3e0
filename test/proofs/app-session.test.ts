import { appSessionProof, restingSessionProof } from './app-session.ts';
import { testProof } from './test-proof.ts';

for (const proof of [appSessionProof, restingSessionProof]) testProof(proof);
