import { managedProof } from './managed.ts';
import { testProof } from './test-proof.ts';

testProof(managedProof);
