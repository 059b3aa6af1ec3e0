import type { AnyPlace, Net, TokenPlace } from '../net/index.ts';
import type { AgentReturns } from './agent-returns.ts';
import type { Instruction } from './instruction.ts';
import type { Ending, ModelCall, ParkedCall } from './places.ts';
import type { Speaking } from './speaking.ts';
import type { TransferTarget } from './transfer.ts';
import type { TurnPart } from './turn-part.ts';

/** Where an agent stands in a session of several. */
export interface Placement {
  readonly among: NonNullable<Speaking['among']>;
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
export interface AgentUnit {
  readonly net: Net;
  readonly part: TurnPart;
  /** Where its calls may wait for someone outside, when it makes any. */
  readonly parked?: TokenPlace<ParkedCall>;
  /** Where it has something to do besides what runs; calls that are to run, unless said. */
  readonly idle?: readonly AnyPlace[];
  /** Where it has something to do while agents of its own wait, and the branch that these have. */
  readonly beside?: { readonly branch: string; readonly idle: readonly AnyPlace[] };
  /** Its effects in flight: while there are some, something may happen without anybody's answer. */
  readonly running: readonly AnyPlace[];
}
