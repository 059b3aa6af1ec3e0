import type { Session } from '../../../src/client/index.ts';
import type { Schemas } from '../../../src/client/generated.ts';

export type {
  Agent,
  PendingCall,
  Schedule,
  ScheduleRun,
  Session,
  SessionEvent,
  SessionForkPoint,
  SessionModelRequest,
  SessionNet,
  SessionRecord,
  StreamedEvent,
} from '../../../src/client/index.ts';
export type Tool = Schemas['StoredAgentTool'];
export type Proof = Schemas['Proof'];
export type ProofResult = Schemas['ProofResult'];
export type ProofTrace = Schemas['ProofTrace'];
export type ProofChange = Schemas['ProofChange'];
export type AgentProperties = Schemas['AgentProperties'];
export type PropertyForm = AgentProperties['forms'][number];
export type EventBlock = Schemas['EventContentBlock'];

/** Reads the changes of one connection to a stream. It throws a ConnectionError when the connection breaks. */
export type Follow = <T>(path: string, aborted: AbortSignal) => AsyncIterable<T>;

/** The nine words for what a session does. */
export type SessionState = SessionRow['state'];

export type SessionRow = Session;
