import { commitCases } from './contract/commit-cases.ts';
import type { StoreContractCase } from './contract/contract-case.ts';
import { documentCases } from './contract/document-cases.ts';
import { inboxCases } from './contract/inbox-cases.ts';
import { ownershipCases } from './contract/ownership-cases.ts';
import { sessionCases } from './contract/session-cases.ts';
import { sharedStateCases } from './contract/shared-state-cases.ts';
import { submissionCases } from './contract/submission-cases.ts';

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
