/** The contract suite of stores, and the sample steps of unit tests. */

export type { StoreContractCase, StoreHarness } from './contract-case.ts';
export { collect, createSession, getExisting, nextStep, sessionKey } from './sample-steps.ts';
export { storeContract } from './store-contract.ts';
