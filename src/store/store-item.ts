import type { Json, SessionKey, SessionStatus } from '../core/index.ts';
import type { StoredDocument } from './documents.ts';
import type {
  CommittedStep,
  InboxInput,
  InputSeq,
  SessionRow,
  StepNumber,
  StepUsage,
} from './session-data.ts';

/**
 * A session without its journal. The inputs, the snapshot and the steps that follow belong to it, in this order. Its
 * sessions of called agents are items of their own.
 */
export interface SessionItem extends Pick<
  SessionRow,
  | 'key'
  | 'uid'
  | 'agent'
  | 'netHash'
  | 'head'
  | 'lastSeq'
  | 'activity'
  | 'inFlight'
  | 'nextDueAt'
  | 'pending'
  | 'failures'
  | 'createdAt'
> {
  readonly type: 'session';
  readonly status: SessionStatus;
  /** The last input that a step has consumed. */
  readonly inboxUpTo: InputSeq;
}

/** An input of the session. */
export interface InputItem {
  readonly type: 'input';
  readonly inputSeq: InputSeq;
  readonly dedupeKey: string;
  /** Undefined: a step has consumed it. */
  readonly input?: InboxInput;
}

/** The newest snapshot of the session. */
export interface SnapshotItem {
  readonly type: 'snapshot';
  /** The step after which it was taken. */
  readonly step: StepNumber;
  readonly marking: Json;
}

/** A step of the session. */
export interface StepItem extends CommittedStep {
  readonly type: 'step';
}

/** A document of the store. */
export interface DocumentItem extends StoredDocument {
  readonly type: 'document';
}

/** An entry of shared state. */
export interface SharedItem {
  readonly type: 'shared';
  readonly appName: string;
  /** Empty: the entry belongs to the app. */
  readonly userId: string;
  readonly name: string;
  readonly version: number;
  /** Undefined: the key was deleted, and its version stays. */
  readonly value?: Json;
}

/** That a session was deleted. */
export interface TombstoneItem {
  readonly type: 'tombstone';
  readonly key: SessionKey;
  readonly uid: string;
}

/** The usage of a group. */
export interface UsageItem extends StepUsage {
  readonly type: 'usage';
  readonly appName: string;
  readonly userId: string;
  readonly agent: string;
}

/** A part of what a store holds, in a form that every store can write. Owners and indexes are not items. */
export type StoreItem =
  | SessionItem
  | InputItem
  | SnapshotItem
  | StepItem
  | DocumentItem
  | SharedItem
  | TombstoneItem
  | UsageItem;

/** Selects what is exported. */
export interface ExportSelection {
  /** Only this session and those of the agents that it called. Default: everything. */
  readonly session?: SessionKey;
}

/** How items are imported. */
export interface ItemImportOptions {
  /** True: the store must be empty. Default: only the sessions must be new. */
  readonly isWholeStore?: boolean;
}
