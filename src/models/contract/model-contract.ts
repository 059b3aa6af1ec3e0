import { responseCases } from './response-cases.ts';
import type { ModelContractCase } from './model-contract-case.ts';
import { failureCases } from './failure-cases.ts';

/**
 * The requirements of every model. A model that passes all of them can drive an agent: `for (const {
 * name, check } of modelContract) test(name, () => check(makeHarness));`
 */
export const modelContract: readonly ModelContractCase[] = [...responseCases, ...failureCases];
