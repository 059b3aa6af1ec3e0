import { isJsonObject } from '../../../core/index.ts';
import type { LogEvent, Seq } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { readInbox, readLog } from '../../events/session-log.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findRun } from '../find-run.ts';
import { SessionFold } from '../session-fold.ts';
import { toRunEnd } from '../session-run.ts';
import { TaskView } from './task-view.ts';

/** A task as the log of its session has it. */
export interface ReadTask {
  readonly view: TaskView;
  /** The log position before its first event. */
  readonly from: Seq;
  /** The position up to which the log was read. */
  readonly seq: Seq;
  /** The position of its last wait. 0: it never waited. */
  readonly waitSeq: Seq;
}

interface OpenTask {
  readonly view: TaskView;
  readonly from: Seq;
  waitSeq: Seq;
}

/** Reads a task of a session. Undefined if the session has no such turn, and none was accepted. */
export async function readTask(
  context: ServerContext,
  session: ManagedSession,
  invocationId: string,
): Promise<ReadTask | undefined> {
  // The inbox before the log: a message that is taken meanwhile is then in the log.
  const inbox = await readInbox(context, session);
  const run = await findRun(context, session, invocationId);
  if (run !== undefined) {
    const [task] = await readTasks(context, session, { from: run.from, invocationId });
    return task;
  }
  const isAccepted = inbox.some(
    ({ input: { value } }) => isJsonObject(value) && value['invocationId'] === invocationId,
  );
  if (!isAccepted) return undefined;
  const view = new TaskView({ sessionId: session.id, invocationId });
  return { view, from: session.lastSeq, seq: session.lastSeq, waitSeq: 0 };
}

/** Reads the tasks of a session, oldest first: all, or the one of an invocation. */
export async function readTasks(
  context: ServerContext,
  session: ManagedSession,
  { from = 0, invocationId }: { readonly from?: Seq; readonly invocationId?: string } = {},
): Promise<readonly ReadTask[]> {
  const fold = new SessionFold();
  const tasks = new Map<string, OpenTask>();
  let seq = from;
  for await (const event of readLog(context, session, from)) {
    const own = 'invocationId' in event ? event.invocationId : undefined;
    if (own !== undefined && invocationId !== undefined && own !== invocationId) continue;
    ({ seq } = event);
    if (event.type === 'user.message' && own !== undefined && !tasks.has(own))
      tasks.set(own, {
        view: new TaskView({ sessionId: session.id, invocationId: own }),
        from: seq - 1,
        waitSeq: 0,
      });
    const folded = fold.add(event);
    for (const [id, task] of tasks) {
      const { view } = task;
      // A task that has ended does not change, whatever follows in its session.
      if (view.isTerminal || (own !== undefined && own !== id)) continue;
      for (const { update } of folded) view.apply(update);
      if (event.type === 'turn.waiting') task.waitSeq = seq;
      const ended = endsTask(event) ? toRunEnd(event, id, { fold }) : undefined;
      if (ended !== undefined)
        view.apply({
          type: 'run.ended',
          invocationId: id,
          waits: [],
          isQueued: false,
          ...ended,
        });
    }
    if (invocationId !== undefined && tasks.get(invocationId)?.view.isTerminal === true) break;
  }
  return [...tasks.values()].map((task) => ({ ...task, seq }));
}

/** A refused answer ends a request, and not the task. */
function endsTask({ type }: LogEvent): boolean {
  return type !== 'error';
}
