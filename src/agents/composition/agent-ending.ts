import { omitUndefined } from '../../core/internal.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';

/** The start token of the agent that follows one that is done. */
export function continueFrom({ invocationId = '', round = 0, escalate }: Ending): ModelCall {
  return {
    invocationId,
    round,
    ...omitUndefined({ escalate: escalate === true ? escalate : undefined }),
  };
}

/** Merges the endings of concurrent agents: the first stop reason other than `end_turn`, and the highest round. */
export function mergeEndings(endings: readonly Ending[]): Ending {
  const [first] = endings;
  return {
    stopReason:
      endings.find(({ stopReason }) => stopReason !== 'end_turn')?.stopReason ?? 'end_turn',
    invocationId: first?.invocationId ?? '',
    round: Math.max(0, ...endings.map(({ round = 0 }) => round)),
    ...omitUndefined({
      escalate: endings.some(({ escalate }) => escalate === true) ? true : undefined,
    }),
  };
}
