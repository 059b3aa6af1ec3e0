import { answerCases } from './contract/answer-cases.ts';
import type { ModelContractCase } from './contract/contract-case.ts';
import { failureCases } from './contract/failure-cases.ts';

/**
 * What every model promises, one check a promise. A model that passes them all may drive an agent:
 * `for (const { name, check } of modelContract) test(name, () => check(makeHarness));`
 */
export const modelContract: readonly ModelContractCase[] = [...answerCases, ...failureCases];
