import type { LogEntry } from '../../core/index.ts';
import type { CompiledNet, JournalRecord, Marking, Migrate, Net } from '../../net/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { AgentSubnet, AgentSlot } from './agent-subnet.ts';
import type { Instruction } from '../prompt/instruction.ts';
import type { ParkedCall } from '../vocabulary/tool-call.ts';

/** What an agent's session is doing, read from its marking. */
export interface AgentStatus {
  readonly status: 'idle' | 'running' | 'waiting';
  /** What this agent calls the status, where it has a word of its own. */
  readonly phase?: string;
  readonly pending: readonly ParkedCall[];
  readonly invocationId: string | undefined;
}

/** A net that takes messages and gives log events. Plain data: it can be run by any number of sessions at once. */
export interface Agent {
  readonly name: string;
  /** The name under which it speaks, where its sessions know it by another. */
  readonly author?: string;
  readonly description: string;
  readonly net: Net;
  /** The net as built: what runs, is drawn and is proved. */
  readonly compiled: CompiledNet;
  readonly tools: ReadonlyMap<string, Tool>;
  /** How many characters the result of a tool may have that does not say it itself. Default: 100,000. */
  readonly maxResultCharacters?: number;
  /** The agents it calls as tools, by name. Each call runs in a session of its own. */
  readonly children: ReadonlyMap<string, Agent>;
  readonly migrate: Migrate | undefined;
  readonly readStatus: (marking: Marking) => AgentStatus;
  /** What a record that gives no event of its own means to a client: another attempt, an upgrade. */
  readonly recordEvents: (record: JournalRecord, marking: Marking) => readonly LogEntry[];
  /** How it takes its part in a session of several agents. */
  readonly role: AgentRole;
}

/** How an agent is placed among others. */
export interface AgentRole {
  /** `model`: it decides by itself who goes on; the others do as they are made. */
  readonly kind: 'model' | 'sequence' | 'parallel' | 'loop' | 'custom' | 'workflow';
  readonly subAgents: readonly Agent[];
  readonly globalInstruction?: Instruction;
  /** Its own tools, by name. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Whether a model may hand the turn to its parent, and to the other agents of its parent. */
  readonly transfers: { readonly toParent: boolean; readonly toPeers: boolean };
  /** Whether callbacks are asked after it, where it may hand the turn over. */
  readonly hasAfterAgent?: boolean;
  /** State that keeps its last words. */
  readonly outputKey?: string;
  readonly buildSubnet: (slot: AgentSlot) => AgentSubnet;
  /** Where one of its agents stands: who hears it, and where it is done. */
  readonly childSlot: (
    index: number,
    slot: Pick<AgentSlot, 'multiAgent' | 'done'>,
  ) => Pick<AgentSlot, 'multiAgent' | 'done'>;
  readonly extensions: readonly Net[];
}
