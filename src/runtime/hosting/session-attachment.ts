import type { SessionKey } from '../../core/index.ts';
import type { Clock, Step } from '../../net/index.ts';

/** A session that this runtime owns, as an attachment uses it. */
export interface AttachableSession {
  readonly key: SessionKey;
  /** The name of its agent. */
  readonly agent: string;
  /** The clock of the session. */
  readonly clock: Clock;
  /**
   * Injects an input that only this owner can make, such as a signal of a connection that it holds. It is journaled with
   * its step; an input that is lost with the owner is lost together with the connection. Does nothing when this runtime
   * no longer owns the session.
   */
  readonly inject: (input: {
    readonly place: string;
    readonly value: unknown;
    readonly key: string;
  }) => void;
}

/** What is attached in memory to a session, from when a runtime owns it until it no longer does. */
export interface SessionAttachment {
  /** While true, the session stays in memory. */
  readonly isActive: boolean;
  /** Called after each committed step, with the values that left the net, and what was injected. */
  readonly onCommitted: (step: Pick<Step, 'outlets' | 'injected'>) => void;
  /** Called once, when the runtime no longer owns the session. */
  readonly detach: () => void;
}

/** What a runtime offers to attachments. */
export interface AttachmentServices {
  /**
   * True while another process that is alive has the session, and has effects in flight or a live connection for it. An
   * owner that is dead is replaced first.
   */
  readonly isBusyElsewhere: (key: SessionKey) => Promise<boolean>;
}

/** Attaches objects in memory to sessions, such as live connections: see `LiveHub`. */
export interface SessionAttachments {
  /** Called when the runtime begins to own a session. The agent's effects find the attachment in their host. */
  readonly attach: (session: AttachableSession) => SessionAttachment;
  /** Called once, when the runtime opens. */
  readonly onOpened?: (services: AttachmentServices) => void;
}
