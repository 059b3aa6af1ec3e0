/** The contract suite of models. */

export type { MakeModelHarness, ModelContractCase, ModelHarness } from './model-contract-case.ts';
export { modelContract } from './model-contract.ts';
