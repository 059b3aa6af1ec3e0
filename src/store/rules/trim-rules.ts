import { checkOptions, InvalidInputError, optionTable } from '../../core/index.ts';
import type { OptionTable } from '../../core/index.ts';
import type { JournalTrim } from '../store.ts';

const TRIM_OPTIONS: OptionTable = optionTable<JournalTrim>('trim', {
  expected: true,
  step: true,
  base: true,
  snapshot: true,
});

/** @throws InvalidInputError */
export function checkTrim({ expected, step, base, snapshot, ...more }: JournalTrim): JournalTrim {
  checkOptions(TRIM_OPTIONS, more);
  if (!Number.isSafeInteger(step) || step < 2 || step > expected.head)
    throw new InvalidInputError(
      'step',
      `must be a step from 2 to ${expected.head}, the last one; it is ${step}.`,
    );
  if (base.kind !== 'trimmed' || base.marking.seq !== base.seq || base.marking.at !== base.at)
    throw new InvalidInputError(
      'base',
      'must be a "trimmed" record with the marking after its own number and time.',
    );
  return { expected, step, base, snapshot };
}
