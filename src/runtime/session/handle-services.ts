import type { Agent } from '../../agents/index.ts';
import type {
  JsonObject,
  LogEvent,
  PartialEvent,
  Seq,
  SessionKey,
  SessionStatus,
} from '../../core/index.ts';
import type {
  InboxInput,
  InjectReceipt,
  SessionInput,
  SessionRow,
  Store,
} from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';
import type { SessionInspection } from '../inspection/session-inspection.ts';
import type { LogFilter } from '../log/log-cursor.ts';
import type { EventsOptions, Session } from './session.ts';

/** The end of a session's log, and the status there. */
export type SessionPosition = Pick<SessionRow, 'lastSeq' | 'status' | 'activity'>;

/** The services that a runtime provides to its session handles. */
export interface HandleServices {
  readonly store: Store;
  /** Reads from the store. @throws RuntimeClosedError after the runtime was closed */
  readonly read: <T>(read: () => Promise<T>) => Promise<T>;
  /** Reads the row of the handle's session. In a batch, the row as the batch found it. */
  readonly readRow: (key: SessionKey) => Promise<SessionRow | undefined>;
  /**
   * Reads the end of the log, and the status there. In a batch, as the inputs of the batch will find the session: a
   * session that the batch creates is queued, and one that the batch closes is closed.
   */
  readonly readPosition: (key: SessionKey) => Promise<SessionPosition | undefined>;
  readonly isClosed: () => boolean;
  /** Called before a session is created. @throws QuotaExceededError */
  readonly checkNewSession: (key: SessionKey) => Promise<void>;
  /** Stores the whole of a truncated answer. */
  readonly artifacts: ArtifactService | undefined;
  /** Returns the trace context to send with a message. */
  readonly propagateContext: (agentName: string) => JsonObject | undefined;
  /**
   * Prepares an input, writes it to its session's inbox and schedules the session. A closing runtime waits for all of it.
   * @param prepare reads what the input needs, and checks it
   * @throws RuntimeClosedError after the runtime was closed
   */
  readonly submit: (prepare: () => Promise<SessionInput>) => Promise<InjectReceipt>;
  /** Lists the accepted inputs that no step has consumed, oldest first. */
  readonly listUnread: (key: SessionKey) => Promise<readonly InboxInput[]>;
  /**
   * Reads the log after `from`, then follows it. Pass a filter only to wait for the effects of an input that this
   * runtime has injected.
   */
  readonly readLog: (
    key: SessionKey,
    from: Seq | (() => Promise<Seq | undefined>),
    options: EventsOptions,
    filter?: LogFilter,
  ) => AsyncIterable<LogEvent | PartialEvent>;
  /**
   * The session's last known state, without reading the store. Undefined when this runtime does not host the session.
   */
  readonly findHosted: (key: SessionKey) =>
    | {
        readonly lastSeq: Seq;
        readonly invocationId: string | undefined;
        readonly isWaiting: boolean;
        readonly status: SessionStatus;
      }
    | undefined;
  /** The time of the runtime's clock, epoch milliseconds. */
  readonly now: () => number;
  /** Largest input, in bytes of JSON. */
  readonly maxInputBytes: number;
  /** The author of this agent's messages. */
  readonly findAuthorName: (agent: string) => Promise<string>;
  /** Reads the journal of a session. */
  readonly inspect: (key: SessionKey, agent: Agent) => SessionInspection;
  readonly release: (key: SessionKey) => Promise<void>;
  readonly open: (key: SessionKey, agent: string) => Promise<Session>;
}
