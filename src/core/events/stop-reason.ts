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

/** All stop reasons. */
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

/** True for one of `STOP_REASONS`. */
export function isStopReason(value: unknown): value is StopReason {
  return STOP_REASONS.some((reason) => reason === value);
}
