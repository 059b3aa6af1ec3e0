import type { Schemas } from './generated.ts';

/** Why a session is idle. */
export type IdleReason = Schemas['IdleReason'];

/** An event of a session's log. The server may send types that are not listed here; ignore those. */
export type SessionEvent = Schemas['SessionEvent'];

/** An event that the server has stored and not processed yet. It gets its `seq` when it is processed. */
export type AcceptedEvent = Schemas['AcceptedEvent'];

/** Part of an event that is still being generated. Previews are not stored, and the complete event follows. */
export type Preview = Schemas['Preview'];

/** What a stream yields: events of the log, and previews if you requested them. Only log events have a `seq`. */
export type StreamedEvent = Schemas['StreamedEvent'];
