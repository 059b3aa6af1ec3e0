import { scheduleProof } from './schedules.ts';
import { testProof } from './test-proof.ts';

testProof(scheduleProof);
