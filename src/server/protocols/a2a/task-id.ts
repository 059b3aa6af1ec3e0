/** A task is a turn of a session: its id names both, so that it is found without an index. */
export interface TaskRef {
  readonly sessionId: string;
  readonly invocationId: string;
}

/** Formats the id of a task: the id of its session, `~`, and the id of its invocation. */
export function formatTaskId({ sessionId, invocationId }: TaskRef): string {
  return `${sessionId}~${invocationId}`;
}

/** Reads the id of a task. Undefined for a text that is none. */
export function parseTaskId(id: string): TaskRef | undefined {
  const [, sessionId, invocationId] = /^(.+)~([^~]+)$/s.exec(id) ?? [];
  return sessionId === undefined || invocationId === undefined
    ? undefined
    : { sessionId, invocationId };
}
