import type { JsonObject, LogEvent } from '../../core/index.ts';

/** A subscription of a protocol to one turn of a session. */
export interface PushTarget {
  /** The protocol that made the subscription. Its format makes the messages. */
  readonly protocol: string;
  readonly sessionId: string;
  readonly invocationId: string;
  /** The id that the client knows. */
  readonly configId: string;
  /** The version of the protocol that the client speaks. */
  readonly version: string;
}

/** A message about an event. */
export interface PushMessage {
  readonly body: JsonObject;
  /** True: no message follows, and the subscription is removed after its delivery. */
  readonly isLast: boolean;
}

/** How a protocol pushes: it makes messages of log entries, and headers of the secret that the client gave. */
export interface PushFormat {
  /** The message about an event of the turn. Undefined: none. */
  readonly toMessage: (target: PushTarget, event: LogEvent) => PushMessage | undefined;
  /** The headers of each request, with the credentials of the client. */
  readonly toHeaders: (secret: string, target: PushTarget) => Readonly<Record<string, string>>;
}
