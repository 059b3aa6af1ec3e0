import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';

/** The beginning of the agent that comes after one that is done. */
export function continueFrom({ invocationId = '', round = 0, escalate }: Ending): ModelCall {
  return { invocationId, round, ...(escalate === true && { escalate }) };
}

/** How agents end that worked side by side: as the first that did not simply end, and after the latest round. */
export function mergeEndings(endings: readonly Ending[]): Ending {
  const [first] = endings;
  return {
    stopReason:
      endings.find(({ stopReason }) => stopReason !== 'end_turn')?.stopReason ?? 'end_turn',
    invocationId: first?.invocationId ?? '',
    round: Math.max(0, ...endings.map(({ round = 0 }) => round)),
    ...(endings.some(({ escalate }) => escalate === true) && { escalate: true }),
  };
}
