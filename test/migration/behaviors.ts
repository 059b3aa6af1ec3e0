/** What the agent of a test does. */
export interface DeskOptions {
  /** The work of `refund`. Default: returns at once. */
  readonly refund?: () => Promise<unknown>;
  /** `refund` waits for approval. Default: false. */
  readonly needsApproval?: boolean;
}

export const refunded = async (): Promise<string> => 'refunded';

/** Work that does not end, as in a process that dies during it. */
export const never = async (): Promise<never> => new Promise(() => undefined);

export async function fail(): Promise<never> {
  throw new Error('no money');
}

/** Waits until the condition holds. The test runner limits the time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Time in which a run that continues without its reader would call the next tool. */
export async function leaveTime(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 300));
}
