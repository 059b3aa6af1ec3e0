import { InvalidInputError, type OptionNames } from '../../core/index.ts';

/** Lets callers prove properties of the agents that a module exports. Each proof is a child process. */
export interface ProofOptions {
  /**
   * The path of the module that exports the agents of the runtime, as for `petrichor prove`. The child process imports
   * it, so the module runs again. Options of Node come from `NODE_OPTIONS`.
   */
  readonly module: string;
  /** How many proofs run at the same time. Default: 1. */
  readonly concurrency?: number;
  /** How many unfinished proofs one workspace may have. More get status 429. Default: 4. */
  readonly perWorkspace?: number;
  /** A proof is ended after this time, in milliseconds. Default: 600,000. */
  readonly timeoutMs?: number;
  /** Size of the JavaScript heap of a proof, in megabytes. Default: 2,048. */
  readonly memoryMegabytes?: number;
  /** Environment variables of the child process. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The names of `ProofOptions`, for the option table of `createServer`. */
export const PROOF_OPTION_NAMES: OptionNames<ProofOptions> = {
  module: true,
  concurrency: true,
  perWorkspace: true,
  timeoutMs: true,
  memoryMegabytes: true,
  env: true,
};

/** The options with their defaults. */
export type ProofSettings = Required<Omit<ProofOptions, 'env'>> & Pick<ProofOptions, 'env'>;

/** @throws InvalidInputError for a limit that is not a positive integer */
export function parseProofOptions(options: ProofOptions): ProofSettings {
  const settings = {
    concurrency: 1,
    perWorkspace: 4,
    timeoutMs: 600_000,
    memoryMegabytes: 2048,
    ...options,
  };
  for (const name of ['concurrency', 'perWorkspace', 'timeoutMs', 'memoryMegabytes'] as const) {
    const value = settings[name];
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new InvalidInputError(
      `proofs.${name}`,
      `must be a whole number above 0; it is ${String(value)}.`,
    );
  }
  return settings;
}
