import { FiringKeyError } from './net-errors.ts';

/** The value that a transition receives when it takes or reads a firing in flight. */
export interface FiringToken<Inputs> {
  readonly firingId: string;
  readonly attempt: number;
  /** When the first attempt of the firing started, epoch milliseconds. */
  readonly startedAt: number;
  readonly inputs: Inputs;
}

/**
 * What a key function of `matching` reads of a firing in flight. It has no `attempt`: the number changes with each
 * retry and each crash, and the key of a token never changes.
 */
export type FiringKeySource<Inputs> = Omit<FiringToken<Inputs>, 'attempt'>;

/**
 * Returns a firing for its key functions. Reading `attempt` throws. It is not enumerable, so that copying the firing or
 * converting it to JSON does not read it.
 */
export function withoutAttempt<Inputs>({
  firingId,
  startedAt,
  inputs,
}: FiringToken<Inputs>): FiringKeySource<Inputs> {
  return Object.defineProperty({ firingId, startedAt, inputs }, 'attempt', {
    enumerable: false,
    get: () => {
      throw new FiringKeyError();
    },
  });
}

/**
 * True if a key function reads the attempt of a firing. It is called with a probe whose members all exist. A function
 * that reads the attempt only for some inputs is not detected here; its firing faults when it does.
 */
export function readsAttempt(getKey: (token: unknown) => unknown): boolean {
  let isRead = false;
  const member: unknown = new Proxy(() => '', {
    get: (_, name) => (name === Symbol.toPrimitive ? () => '' : member),
    apply: () => member,
  });
  const firing = new Proxy(
    {},
    {
      get: (_, name) => {
        if (name === 'attempt') isRead = true;
        return name === 'firingId' ? '' : name === 'startedAt' || name === 'attempt' ? 1 : member;
      },
    },
  );
  try {
    getKey(firing);
  } catch {
    // The probe has no values that the function can compute with.
  }
  return isRead;
}
