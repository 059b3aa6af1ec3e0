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

/** How the places are called that the rules speak of. A rule that is not named here holds where the net has the stock places. */
export interface InvariantOptions {
  readonly sessionWriter?: SessionWriterNames;
  readonly endInvocation?: EndInvocationNames;
  readonly transfer?: TransferNames;
  readonly generation?: GenerationNames;
}

/** The net builds, but breaks a rule that keeps an agent's orchestration right. Every broken rule is listed. */
export class InvariantError extends PetrichorError {
  override readonly code = 'invariant' as const;
  readonly problems: readonly string[];

  constructor(net: string, problems: readonly string[]) {
    super(
      `Net "${net}" breaks what an agent must keep:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/**
 * Refuses a net that breaks a rule of agents: by its arcs alone, no solver is asked.
 * @throws InvariantError with everything that is wrong
 * @throws InvalidInputError when an option names a place the net does not have
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

/** Each agent that may hand the turn over has its own place for the wish. */
function stockTransfers({ places }: CompiledNet): readonly TransferNames[] {
  return placesNamed(turnTransfer, [...places.keys()]).map(({ name }) => ({
    transfer: name,
    unknown: name.replace(turnTransfer.name, targetUnknown.name),
  }));
}
