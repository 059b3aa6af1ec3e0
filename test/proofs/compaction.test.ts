import { compactionProof } from './compaction.ts';
import { testProof } from './test-proof.ts';

testProof(compactionProof);
