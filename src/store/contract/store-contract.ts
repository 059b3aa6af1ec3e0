import { commitCases } from './commit-cases.ts';
import type { StoreContractCase } from './contract-case.ts';
import { documentCases } from './document-cases.ts';
import { inboxCases } from './inbox-cases.ts';
import { ownershipCases } from './ownership-cases.ts';
import { sessionCases } from './session-cases.ts';
import { sharedStateCases } from './shared-state-cases.ts';
import { submissionCases } from './submission-cases.ts';

/**
 * What every store promises, one check a promise. A store that passes them all may hold sessions:
 * `for (const { name, check } of storeContract) test(name, () => check(makeHarness));`
 */
export const storeContract: readonly StoreContractCase[] = [
  ...sessionCases,
  ...commitCases,
  ...inboxCases,
  ...submissionCases,
  ...ownershipCases,
  ...sharedStateCases,
  ...documentCases,
];
