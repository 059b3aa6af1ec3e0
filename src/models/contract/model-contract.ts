import { responseCases } from './response-cases.ts';
import type { ModelContractCase } from './model-contract-case.ts';
import { failureCases } from './failure-cases.ts';

/**
 * What every model promises, one check a promise. A model that passes them all may drive an agent:
 * `for (const { name, check } of modelContract) test(name, () => check(makeHarness));`
 */
export const modelContract: readonly ModelContractCase[] = [...responseCases, ...failureCases];
