/** Why a turn ended or waits. */
export type StopReason =
  | 'end_turn'
  | 'requires_action'
  | 'max_tokens'
  | 'interrupted'
  | 'retries_exhausted'
  | 'budget_reached'
  | 'refusal'
  | 'error';

/** Every stop reason, each once: what `isStopReason` takes. */
export const STOP_REASONS: readonly StopReason[] = [
  'end_turn',
  'requires_action',
  'max_tokens',
  'interrupted',
  'retries_exhausted',
  'budget_reached',
  'refusal',
  'error',
];

/** True for one of `STOP_REASONS`; false for anything else, of any type. */
export function isStopReason(value: unknown): value is StopReason {
  return STOP_REASONS.some((reason) => reason === value);
}
