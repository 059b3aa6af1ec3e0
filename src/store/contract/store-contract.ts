import { acceptedInputCases } from './accepted-input-cases.ts';
import { changeCases } from './change-cases.ts';
import { commitCases } from './commit-cases.ts';
import type { StoreContractCase } from './contract-case.ts';
import { deleteCases } from './delete-cases.ts';
import { replaceCases } from './replace-cases.ts';
import { documentCases } from './document-cases.ts';
import { durabilityCases } from './durability-cases.ts';
import { inboxCases } from './inbox-cases.ts';
import { itemCases } from './item-cases.ts';
import { ownershipCases } from './ownership-cases.ts';
import { pendingCallCases } from './pending-call-cases.ts';
import { sessionCases } from './session-cases.ts';
import { sharedStateCases } from './shared-state-cases.ts';
import { submissionCases } from './submission-cases.ts';
import { trimCases } from './trim-cases.ts';
import { usageCases } from './usage-cases.ts';
import { vacuumCases } from './vacuum-cases.ts';

/**
 * The requirements of every store, one case each. Run all of them for a new store:
 * `for (const { name, check } of storeContract) test(name, () => check(makeHarness));`
 */
export const storeContract: readonly StoreContractCase[] = [
  ...sessionCases,
  ...deleteCases,
  ...replaceCases,
  ...durabilityCases,
  ...commitCases,
  ...inboxCases,
  ...acceptedInputCases,
  ...submissionCases,
  ...ownershipCases,
  ...sharedStateCases,
  ...documentCases,
  ...pendingCallCases,
  ...changeCases,
  ...usageCases,
  ...itemCases,
  ...trimCases,
  ...vacuumCases,
];
