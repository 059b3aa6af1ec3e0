import type { AnyPlace, Net, TokenPlace } from '../../net/index.ts';
import type { AgentReturns } from '../transfer/agent-returns.ts';
import type { Instruction } from '../prompt/instruction.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { TransferTarget } from '../transfer/transfer.ts';
import type { TurnResources } from '../turn/turn-resources.ts';

/** Where an agent stands in a session of several. */
export interface AgentSlot {
  readonly multiAgent: NonNullable<AgentIdentity['multiAgent']>;
  /** Where it is to begin. */
  readonly from: TokenPlace<ModelCall>;
  /** Where it is done. */
  readonly done: TokenPlace<Ending>;
  /** Whom it may hand the turn to. */
  readonly targets: readonly TransferTarget[];
  /** Where it says that it handed the turn over, when callbacks of some agent are asked after that. */
  readonly returns?: AgentReturns;
  /** What the first agent tells all of them, in place of what each would say of this kind by itself. */
  readonly globalInstruction?: Instruction;
}

/** An agent's part of a session's net. */
export interface AgentSubnet {
  readonly net: Net;
  readonly resources: TurnResources;
  /** Where its calls may wait for someone outside, when it makes any. */
  readonly parked?: TokenPlace<ParkedCall>;
  /** Where it has something to do besides what runs; calls that are to run, unless said. */
  readonly workPlaces?: readonly AnyPlace[];
  /** Where it has something to do while agents of its own wait, and the branch that these have. */
  readonly whileWaiting?: { readonly branch: string; readonly workPlaces: readonly AnyPlace[] };
  /** Its effects in flight: while there are some, something may happen without anybody's answer. */
  readonly running: readonly AnyPlace[];
}
