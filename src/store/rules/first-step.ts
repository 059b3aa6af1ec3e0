import type { CommittedStep, StepNumber } from '../store.ts';

/**
 * Finds the first step of a journal that has records: 1, or the step with the base of a trimmed journal. The steps before it
 * are not read.
 * @param listSteps the steps from record 1 on that changed a list: `store.listSteps(key, 1)`
 */
export async function findFirstStep(listSteps: AsyncIterable<CommittedStep>): Promise<StepNumber> {
  for await (const { step, records } of listSteps) return records[0]?.kind === 'trimmed' ? step : 1;
  return 1;
}
