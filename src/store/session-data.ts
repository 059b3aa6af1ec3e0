import type {
  Json,
  LogEvent,
  Seq,
  SessionActivity,
  SessionId,
  SessionKey,
  SessionStatus,
  Usage,
} from '../core/index.ts';
import type { JournalRecord } from '../net/index.ts';

/** The number of a step within its session, from 1. */
export type StepNumber = number;

/** The id of a runtime that can own sessions. Each runtime uses a new one. */
export type OwnerId = string;

/** The number of an input in its session's inbox, from 1. */
export type InputSeq = number;

/** An input from outside: a token value for one of the input places of a session's net. */
export interface InboxInput {
  readonly place: string;
  readonly value: Json;
}

/** A call that waits for an approval or a result, as it is stored with its session. */
export interface StoredPendingCall {
  readonly callId: string;
  readonly name: string;
  readonly args: Json;
  readonly needs: 'approval' | 'result';
  readonly invocationId: string;
  readonly fingerprint: string;
  /** When the call began to wait, epoch milliseconds. */
  readonly since: number;
  /** When the wait times out, epoch milliseconds. Undefined: the call waits forever. */
  readonly expiresAt?: number;
  /** Why an approval is needed: the tool's policy, or a crash that left the outcome unknown. */
  readonly reason?: 'policy' | 'crash';
  /** The question or the latest progress of a call that ran and then parked. */
  readonly request?: Json;
  /** The tool runs again with the answer. Undefined: the answer is the result of the call. */
  readonly resumes?: true;
  /** Number of questions that the call has asked. Each takes one answer. */
  readonly asks?: number;
  /** For a call of a called agent: the session of that agent. */
  readonly session?: SessionId;
  /** For a call of a called agent: the names of the called agents on the way to it. */
  readonly path?: readonly string[];
  /** For a call of a called agent: the id of the call of this session that called the agent. */
  readonly via?: string;
}

/**
 * The status of a session, or `quarantined`: loading it failed three times in a row, so no runtime tries again.
 */
export type StoredStatus = SessionStatus | 'quarantined';

/** The columns of a session's row that each step sets. They are indexed, so that one query finds sessions with work. */
export interface SessionSummary {
  readonly status: SessionStatus;
  /** What the turn does. It follows from the status, except in a paused session. */
  readonly activity: SessionActivity;
  /** Number of effects that the owner may be running. An effect that waits for a retry counts as a timer instead. */
  readonly inFlight: number;
  /** When the earliest timer is due (epoch ms). Null: there is no timer. */
  readonly nextDueAt: number | null;
  readonly pending: readonly StoredPendingCall[];
  readonly netHash: string;
}

/** The stored row of a session: its summary, its owner, and the ends of its journal and log. Times are epoch ms. */
export interface SessionRow extends Omit<SessionSummary, 'status'> {
  readonly status: StoredStatus;
  readonly key: SessionKey;
  /**
   * Unique id of the session. A session that was deleted and created again has another one. Event ids derive from it.
   */
  readonly uid: string;
  readonly agent: string;
  readonly owner: OwnerId | null;
  /** Increases with each change of owner. It fences writes of former owners. */
  readonly epoch: number;
  /** The number of the last committed step; 0 when there is none. */
  readonly head: StepNumber;
  /** The last committed log event's number; 0 when there is none. */
  readonly lastSeq: Seq;
  /** True when the inbox has inputs that no step has consumed. */
  readonly inboxPending: boolean;
  /** Number of failed attempts in a row to load the session. */
  readonly failures: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The model calls of a step with one model on one day. */
export interface StepUsage {
  /** The UTC day, as `YYYY-MM-DD`. */
  readonly day: string;
  /** The name of the model. Empty: unknown. */
  readonly model: string;
  readonly calls: number;
  readonly tokens: Usage;
}

/** A step as read from the store. `at` is in epoch ms. */
export interface CommittedStep {
  readonly step: StepNumber;
  readonly at: number;
  readonly records: readonly JournalRecord[];
  readonly events: readonly LogEvent[];
}
