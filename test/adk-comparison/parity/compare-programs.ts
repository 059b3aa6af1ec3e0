import { compareRuns } from './compare.ts';
import type { Difference } from './compare.ts';
import type { Program } from './kit.ts';
import { normalizeRun } from './normalize.ts';
import { runOnPetrichor } from './petrichor-kit.ts';
import { runOnStock } from './stock-kit.ts';

/** What a program did on both packages. */
export interface Comparison {
  readonly program: Program;
  readonly requests: number;
  readonly events: number;
  readonly differences: readonly Difference[];
}

/** Runs a program on both packages and compares the outcomes. */
export async function compareProgram(program: Program): Promise<Comparison> {
  const stock = normalizeRun(program, await runOnStock(program));
  const petrichor = normalizeRun(program, await runOnPetrichor(program));
  return {
    program,
    requests: stock.requests.length,
    events: stock.turns.flat().length,
    differences: compareRuns(program.name, stock, petrichor),
  };
}
