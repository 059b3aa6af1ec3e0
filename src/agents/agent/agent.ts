import type { Json, LogEntry, NodeInfo, SessionActivity, SessionStatus } from '../../core/index.ts';
import type { CompiledNet, JournalRecord, Marking, Migrate, Net } from '../../net/index.ts';
import type { NamedModel } from '../../models/internal.ts';
import type { Tool } from '../../tools/index.ts';
import type { AgentSubnet, AgentSlot } from './agent-subnet.ts';
import type { Instruction } from '../prompt/instruction.ts';
import type { OutcomesOption } from '../outcomes/outcomes-option.ts';
import type { Extension } from '../turn/extension.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';

/** A call that waits for an answer from outside, with the time of its token. */
export interface ParkedToken extends ParkedCall {
  /** When the token arrived, epoch milliseconds. */
  readonly at: number;
}

/** The status of an agent's session, read from its marking. */
export interface AgentStatus {
  readonly status: SessionStatus;
  /** What the turn does. It follows from the status, except in a paused session. */
  readonly activity: SessionActivity;
  readonly pending: readonly ParkedToken[];
  readonly invocationId: string | undefined;
  /** Connections that a process holds for the session. A session with one needs an owner. Default: 0. */
  readonly connections?: number;
}

/** An input that a new owner of a session injects. */
export interface OwnerInput {
  readonly place: string;
  readonly value: unknown;
  /** The deduplication key, stored with the record. */
  readonly key: string;
}

/**
 * Derives events from a record: another attempt, an upgrade, the start or end of an agent.
 * @param marking the marking after the step of the record
 * @param invocationId the turn that runs at the record, if there is one
 */
export type RecordEvents = (
  record: JournalRecord,
  marking: Marking,
  invocationId: string | undefined,
) => readonly LogEntry[];

/**
 * Replaces the journal of a session by an input from which the session continues: when the journal is long, and when the
 * net of the session has changed.
 */
export interface Renewal {
  /** The least steps of a journal that is long. */
  readonly afterSteps: number;
  /** Returns the input. Undefined: the session keeps its journal. */
  readonly toInput: (
    marking: Marking,
  ) => { readonly place: string; readonly value: Json } | undefined;
}

/** A net that takes messages and emits log events. It is plain data and can run in any number of sessions at once. */
export interface Agent {
  readonly name: string;
  /** The author of its messages, if that is not its name. */
  readonly author?: string;
  readonly description: string;
  readonly net: Net;
  /** The compiled net: it is what runs, is drawn and is proved. */
  readonly compiled: CompiledNet;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The most characters in the result of a tool that sets no limit itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
  /** The agents it calls as tools, by name. Each call runs in a child session. */
  readonly children: ReadonlyMap<string, Agent>;
  readonly migrate: Migrate | undefined;
  readonly readStatus: (marking: Marking) => AgentStatus;
  /**
   * The inputs that a new owner of a session injects before all others: what ended with the process of the former owner.
   * `epoch` is that of the new owner. Default: none.
   */
  readonly listOwnerInputs?:
    | ((marking: Marking, epoch: number) => readonly OwnerInput[])
    | undefined;
  /** How the journals of its sessions begin anew. Default: they grow. */
  readonly renewal?: Renewal | undefined;
  /** The events that follow from a record and are not among its outputs. */
  readonly recordEvents: RecordEvents;
  /** How it takes part in a session of several agents. */
  readonly role: AgentRole;
  /**
   * Builds the agent again with more nets or with outcome rounds.
   * @throws InvalidInputError, NetBuildError
   */
  readonly extend: (more: AgentAdditions) => Agent;
}

/** What can be added to an agent that is already built. */
export interface AgentAdditions {
  /** More nets, joined by their ports. Default: none. */
  readonly extensions?: readonly (Net | Extension)[];
  /** Outcome rounds. Default: those of the agent. */
  readonly outcomes?: OutcomesOption | undefined;
}

/** How an agent is placed in a session of several agents. */
export interface AgentRole {
  /** `model`: its model decides which agent continues. All other kinds follow a fixed structure. */
  readonly kind: 'model' | 'sequence' | 'parallel' | 'loop' | 'custom' | 'workflow';
  readonly subAgents: readonly Agent[];
  readonly globalInstruction?: Instruction;
  /** Its tools, by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The names of its models: the first is used unless it fails. Default: none. */
  readonly models?: readonly string[];
  /** Its instruction, if that is a text. */
  readonly instructionText?: string;
  /** The models that its definition names, which the runtime resolves. Default: none. */
  readonly namedModels?: readonly NamedModel[];
  /** Whether it may transfer the turn to its parent, and to the other sub-agents of its parent. */
  readonly transfers: { readonly toParent: boolean; readonly toPeers: boolean };
  /** Whether it has `afterAgent` callbacks, which must also run after a transfer. */
  readonly hasAfterAgent?: boolean;
  /** Whether its prompts state its identity in new sessions. Undefined: in none. */
  readonly identity?: boolean;
  /** The state key that stores the text of its final answer. */
  readonly outputKey?: string;
  readonly buildSubnet: (slot: AgentSlot) => AgentSubnet;
  /** The branch and the ending place of one of its sub-agents. */
  readonly childSlot: (
    index: number,
    slot: Pick<AgentSlot, 'multiAgent' | 'done'>,
  ) => Pick<AgentSlot, 'multiAgent' | 'done'>;
  readonly extensions: readonly (Net | Extension)[];
  /**
   * The nodes that begin or end with a firing, for a workflow. `t` and the places of the given tokens have the names that
   * they have in its subnet. Default: none.
   */
  readonly listNodeRuns?: (t: string, give: ReadonlyMap<string, Json>) => readonly NodeRun[];
}

/** A node of a workflow begins or ends. */
export interface NodeRun {
  readonly type: 'node.started' | 'node.ended';
  readonly name: string;
  readonly nodeInfo: NodeInfo;
}
