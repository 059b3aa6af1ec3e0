import { agentProof } from './agent.ts';
import { testProof } from './test-proof.ts';

testProof(agentProof);
