import type { AnyPlace, Net, TokenPlace } from '../../net/index.ts';
import type { AgentReturns } from '../transfer/agent-returns.ts';
import type { Instruction } from '../prompt/instruction.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { TransferTarget } from '../transfer/transfer.ts';
import type { TurnResources } from '../turn/turn-resources.ts';

/** The position of an agent in a session of several agents. */
export interface AgentSlot {
  readonly multiAgent: NonNullable<AgentIdentity['multiAgent']>;
  /** The place with its start token. */
  readonly from: TokenPlace<ModelCall>;
  /** The place for its ending. */
  readonly done: TokenPlace<Ending>;
  /** The agents that it may transfer the turn to. */
  readonly targets: readonly TransferTarget[];
  /** The agent whose sub-agent it is. */
  readonly parentName?: string;
  /** The places of its transfer group, if an agent of the group has `afterAgent` callbacks. */
  readonly returns?: AgentReturns;
  /** The global instruction of the session's first agent. It replaces the agent's own. */
  readonly globalInstruction?: Instruction;
}

/** The part of a session's net that belongs to one agent. */
export interface AgentSubnet {
  readonly net: Net;
  readonly resources: TurnResources;
  /** The place of its parked calls, if it makes any. */
  readonly parked?: TokenPlace<ParkedCall>;
  /** Places whose tokens mean that it still has work to do, beside running effects. Default: its `tool.call`. */
  readonly workPlaces?: readonly AnyPlace[];
  /** Places whose tokens mean work to do while its sub-agents wait, and the branch of these sub-agents. */
  readonly whileWaiting?: { readonly branch: string; readonly workPlaces: readonly AnyPlace[] };
  /** The `running(…)` places of its effects. While one has a token, the turn can make progress without an answer. */
  readonly running: readonly AnyPlace[];
}
