import {
  fallbackModelStepProof,
  modelStepProof,
  promptBuilderProof,
  routerProof,
  sessionWriterProof,
  toolDispatchProof,
  transferRouterProof,
} from './subnets.ts';
import { testProof } from './test-proof.ts';

for (const proof of [
  promptBuilderProof,
  modelStepProof,
  routerProof,
  toolDispatchProof,
  sessionWriterProof,
  fallbackModelStepProof,
  transferRouterProof,
])
  testProof(proof);
