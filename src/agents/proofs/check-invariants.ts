import { PetrichorError } from '../../core/index.ts';
import type { CompiledNet } from '../../net/index.ts';
import { placesNamed } from '../turn/scoped-place.ts';
import { sessionWrite, state } from '../vocabulary/state.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { targetUnknown, turnTransfer } from '../transfer/transfer.ts';
import { commitsReadGeneration } from './commits-read-generation.ts';
import type { GenerationNames } from './commits-read-generation.ts';
import { endInvocationInhibitsAll } from './end-invocation-inhibits-all.ts';
import type { EndInvocationNames } from './end-invocation-inhibits-all.ts';
import { singleSessionWriter } from './single-session-writer.ts';
import type { SessionWriterNames } from './single-session-writer.ts';
import { transferHasUnknownFallback } from './transfer-has-unknown-fallback.ts';
import type { TransferNames } from './transfer-has-unknown-fallback.ts';

/** The names of the places that the rules check. A rule without names is checked if the net has the stock places. */
export interface InvariantOptions {
  readonly sessionWriter?: SessionWriterNames;
  readonly endInvocation?: EndInvocationNames;
  readonly transfer?: TransferNames;
  readonly generation?: GenerationNames;
}

/**
 * A net compiles, but violates rules for agents. `problems` lists every violation.
 * @remedy Correct the net. `problems` names the place or transition of each violation.
 */
export class InvariantError extends PetrichorError {
  override readonly code = 'invariant' as const;
  readonly problems: readonly string[];

  constructor(net: string, problems: readonly string[]) {
    super(
      `Net "${net}" violates the invariants of agents:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * Checks the rules for agents on the arcs of a net, without a solver.
 * @throws InvariantError with every violation
 * @throws InvalidInputError when an option names a place that the net does not have
 */
export function checkInvariants(net: CompiledNet, options: InvariantOptions = {}): void {
  const { sessionWriter, endInvocation, transfer, generation } = options;
  const hasState = net.places.has(state.name) && net.places.has(sessionWrite.name);
  const problems = [
    ...(sessionWriter !== undefined || hasState ? singleSessionWriter(net, sessionWriter) : []),
    ...[endInvocation ?? stockEndInvocation(net)].flatMap((names) =>
      names === undefined ? [] : endInvocationInhibitsAll(net, names),
    ),
    ...(transfer === undefined ? stockTransfers(net) : [transfer]).flatMap((names) =>
      transferHasUnknownFallback(net, names),
    ),
    ...(generation === undefined ? [] : commitsReadGeneration(net, generation)),
  ];
  if (problems.length > 0) throw new InvariantError(net.name, problems);
}

function stockEndInvocation({ places }: CompiledNet): EndInvocationNames | undefined {
  return places.has(turnStopping.name) ? { endInvocation: turnStopping.name } : undefined;
}

/** Each agent that can transfer the turn has its own transfer place. */
function stockTransfers({ places }: CompiledNet): readonly TransferNames[] {
  return placesNamed(turnTransfer, [...places.keys()]).map(({ name }) => ({
    transfer: name,
    unknown: name.replace(turnTransfer.name, targetUnknown.name),
  }));
}
