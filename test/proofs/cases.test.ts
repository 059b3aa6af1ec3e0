import { duplexSessionProof } from './duplex-session.ts';
import { fanOutProof } from './fan-out.ts';
import { raceOfThreeProof, raceOfTwoProof } from './speculative-race.ts';
import { staleResultsProof } from './stale-results.ts';
import { testProof } from './test-proof.ts';

for (const proof of [
  fanOutProof,
  staleResultsProof,
  raceOfTwoProof,
  raceOfThreeProof,
  duplexSessionProof,
])
  testProof(proof);
