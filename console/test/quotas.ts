import type { Quotas } from '../../src/runtime/index.ts';

/** Limits of the demonstration. */
export const demoQuotas: Quotas = {
  app: { usdPerMonth: 5000 },
  user: { tokensPerDay: 1_000_000, sessions: 200, storageBytes: 1_000_000_000 },
  usdPerMillionTokens: { '*': { input: 3, output: 15 } },
};
