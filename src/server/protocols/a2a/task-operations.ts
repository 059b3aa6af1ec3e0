import { deriveInvocationId, InvalidInputError, isJsonObject } from '../../../core/index.ts';
import type { Json, JsonObject } from '../../../core/index.ts';
import type { ManagedSession } from '../../../managed/index.ts';
import { findCurrentWait } from '../../../runtime/internal.ts';
import type { Caller } from '../../auth/api-keys.ts';
import { toSessionKey, toSessionRef } from '../../events/session-log.ts';
import { HttpError } from '../../http/http-error.ts';
import { getWorkspaceAgent } from '../../routes/workspace-agents.ts';
import type { ServerContext } from '../../routing/server-context.ts';
import { findCallerSession, openCallerSession } from '../caller-session.ts';
import { findOpenRun, toNewRun } from '../find-run.ts';
import { parseFrameCursor } from '../frame-cursor.ts';
import { readFrames } from '../run-response.ts';
import type { IdentifiedFrame } from '../run-response.ts';
import { sendInputs } from '../send-inputs.ts';
import type { ClientInput } from '../send-inputs.ts';
import { readRun, toOpenCall } from '../session-run.ts';
import type { SessionRun } from '../session-run.ts';
import type { OpenCall } from '../session-update.ts';
import { savePushConfig } from './a2a-push.ts';
import { parseA2aMessage, toAnswers, toMessageInput } from './message-inputs.ts';
import type { A2aMessage } from './message-inputs.ts';
import { readTask } from './read-tasks.ts';
import type { ReadTask } from './read-tasks.ts';
import { taskNotCancelable, taskNotFound, unsupportedOperation } from './task-errors.ts';
import { formatTaskId, parseTaskId } from './task-id.ts';
import type { TaskRef } from './task-id.ts';
import { TaskView } from './task-view.ts';
import type { TaskShape } from './task-view.ts';

/** Who calls which agent. */
export interface TaskCaller {
  readonly caller: Caller;
  readonly agentId: string;
  /** Aborts when the client goes, and when the server closes. It stops no task. */
  readonly signal: AbortSignal;
  /** The version of the protocol that the client speaks. */
  readonly version: string;
}

/** A message with its configuration, in the JSON form of A2A 1.0. */
export interface SendRequest {
  readonly message?: unknown;
  readonly configuration?: {
    readonly historyLength?: number;
    readonly returnImmediately?: boolean;
    readonly taskPushNotificationConfig?: unknown;
  };
}

interface FoundTask extends ReadTask {
  readonly session: ManagedSession;
  readonly ref: TaskRef;
}

interface SentRun {
  readonly run: SessionRun;
  readonly ref: TaskRef;
  readonly message: A2aMessage;
  /** Whether the message answers the calls of a task. */
  readonly isAnswer: boolean;
}

/** The operations on the tasks of an agent: a context is a session, and a task is a turn. All state is in the log. */
export class TaskOperations {
  readonly #context: ServerContext;
  readonly #caller: TaskCaller;

  constructor(context: ServerContext, caller: TaskCaller) {
    this.#context = context;
    this.#caller = caller;
  }

  /** Sends a message. Resolves with the task when it has ended or waits, or at once with `returnImmediately`. */
  async send(request: SendRequest): Promise<JsonObject> {
    const sent = await this.#send(request);
    const { historyLength, returnImmediately } = request.configuration ?? {};
    if (returnImmediately !== true) await this.#awaitEnd(sent.run);
    const task = await readTask(this.#context, sent.run.session, sent.ref.invocationId);
    return (task?.view ?? toNewView(sent)).toTask({ historyLength });
  }

  /** Sends a message and streams the task, from its first response to its end or its next wait. */
  async *stream(
    request: SendRequest,
    lastEventId: string | null,
  ): AsyncGenerator<IdentifiedFrame<JsonObject>, void, undefined> {
    const sent = await this.#send(request);
    const view = toNewView(sent);
    yield* this.#frames(sent.run, view, lastEventId);
  }

  /** @throws HttpError 404 */
  async get(id: string, shape: TaskShape): Promise<JsonObject> {
    return (await this.find(id)).view.toTask(shape);
  }

  /**
   * Streams a task from now on: as it is, then each change. With the id of the last event that the client has, the
   * events after that one.
   * @throws HttpError 404; 409 for a task that has ended
   */
  async *subscribe(
    id: string,
    lastEventId: string | null,
  ): AsyncGenerator<IdentifiedFrame<JsonObject>, void, undefined> {
    const { view, session, ref, from, seq, waitSeq } = await this.find(id);
    const after = parseFrameCursor(lastEventId);
    if (view.isTerminal && after === undefined)
      throw unsupportedOperation(`Task "${id}" has ended. Read it with GetTask.`);
    const run: SessionRun = {
      ...toNewRun(session, [ref.invocationId]),
      from,
      turnFrom: from,
      isNew: view.state === 'TASK_STATE_SUBMITTED',
      // The client knows the present wait from the task, or gets it as an event and comes back.
      waitsAfter: view.isWaiting && after !== undefined && after.seq < waitSeq ? waitSeq - 1 : seq,
    };
    // Updates that the client has in the task, or has read before, are folded and not sent.
    const shown = new TaskView(ref);
    const first =
      after === undefined
        ? view.toTask()
        : view.toTask({ historyLength: 0, includeArtifacts: false });
    const start = after ?? { seq, index: Number.MAX_SAFE_INTEGER, previews: new Map() };
    yield { frame: { task: first }, id: lastEventId ?? `${seq}.999999999` };
    const options = { signal: this.#caller.signal, after: start };
    for await (const frames of readFrames(this.#context, run, {
      map: (update) => shown.apply(update),
      ...options,
    }))
      for (const one of frames) if (!('task' in one.frame)) yield one;
  }

  /**
   * Stops a task, and resolves when it has ended. A task that was canceled before stays so.
   * @throws HttpError 404; 409 for a task that ended otherwise, or has not begun
   */
  async cancel(id: string): Promise<JsonObject> {
    const { view, session, ref, from } = await this.find(id);
    if (view.state === 'TASK_STATE_CANCELED') return view.toTask();
    if (view.isTerminal) throw taskNotCancelable(id, 'it has ended.');
    const wait = await findCurrentWait(this.#context.store, toSessionKey(session));
    const open = await findOpenRun(this.#context, session);
    const current = wait === undefined ? open?.invocationIds : [wait.invocationId];
    if (current !== undefined && !current.includes(ref.invocationId))
      throw taskNotCancelable(
        id,
        'it has not begun. Cancel the task of its context that runs or waits.',
      );
    const { invocationId } = ref;
    await this.#context.runtime.interrupt(toSessionRef(session), { invocationId });
    await this.#awaitEnd({
      ...toNewRun(session, [ref.invocationId]),
      from,
      turnFrom: from,
      isNew: false,
      // Waits end by the interrupt.
      waitsAfter: Number.MAX_SAFE_INTEGER,
    });
    const { view: ended } = await this.find(id);
    if (ended.state !== 'TASK_STATE_CANCELED') throw taskNotCancelable(id, 'it has ended.');
    return ended.toTask();
  }

  /** @throws HttpError 404 for a task of another agent or workspace, too */
  async find(id: string): Promise<FoundTask> {
    const ref = parseTaskId(id);
    if (ref === undefined) throw taskNotFound(id);
    const { caller, agentId } = this.#caller;
    const session = await findCallerSession(this.#context, caller, ref.sessionId);
    if (session === undefined || session.agentId !== agentId) throw taskNotFound(id);
    const task = await readTask(this.#context, session, ref.invocationId);
    if (task === undefined) throw taskNotFound(id);
    return { ...task, session, ref };
  }

  async #send({ message: value, configuration }: SendRequest): Promise<SentRun> {
    const { caller, version } = this.#caller;
    const message = parseA2aMessage(value);
    const invocationId = deriveInvocationId(message.messageId);
    const task = message.taskId === undefined ? undefined : await this.find(message.taskId);
    if (task !== undefined && (message.contextId ?? task.ref.sessionId) !== task.ref.sessionId)
      throw new InvalidInputError(
        'message.contextId',
        `is not the context of the task, ${task.ref.sessionId}.`,
      );
    // The first message of a task, which is sent again with the id of its task.
    const isAnswer = task !== undefined && task.ref.invocationId !== invocationId;
    const session = task?.session ?? (await this.#openSession(message));
    const ref = isAnswer ? task.ref : { sessionId: session.id, invocationId };
    const input = isAnswer ? undefined : toMessageInput(message);
    const push = configuration?.taskPushNotificationConfig;
    if (push !== undefined)
      await savePushConfig(this.#context, caller.workspace, { task: ref, value: push, version });
    const run =
      task === undefined || input !== undefined
        ? await sendInputs(this.#context, caller, session, [input ?? toMessageInput(message)])
        : await this.#answer(message, task);
    return { run, ref, message, isAnswer };
  }

  async #openSession({ contextId, messageId }: A2aMessage): Promise<ManagedSession> {
    const { caller, agentId } = this.#caller;
    if (contextId !== undefined)
      return openCallerSession(this.#context, caller, { id: contextId, agentId });
    const agent = await getWorkspaceAgent(this.#context, caller.workspace, agentId);
    // A message that is sent again, because its response was lost, finds its session.
    const dedupeKey = `a2a:${agentId}:${messageId}`;
    return this.#context.runtime.startSession(
      agent.id,
      { userId: caller.workspace },
      { dedupeKey },
    );
  }

  /**
   * Answers the calls of a task. The calls that a message answers are stored under its id before, so that a message that
   * is sent again answers the same calls, and never those of a later wait.
   */
  async #answer(message: A2aMessage, { session, ref, view }: FoundTask): Promise<SessionRun> {
    const { idempotentRequests, runtime } = this.#context;
    const { caller } = this.#caller;
    const pending = await runtime.pending(toSessionRef(session));
    const open = pending.filter((call) => call.invocationId === ref.invocationId).map(toOpenCall);
    const request = idempotentRequests.get(
      {
        keyId: caller.keyId,
        path: `a2a:${formatTaskId(ref)}`,
        body: '',
        retryCount: 0,
        clientKey: message.messageId,
      },
      caller.workspace,
    );
    await request.read();
    const earlier = await request.findResult();
    if (earlier === undefined && open.length === 0)
      throw unsupportedOperation(
        `Task "${view.id}" does not wait for an answer. To continue the conversation, send the message with contextId and without taskId.`,
      );
    const known = earlier === undefined ? open : parseAnsweredCalls(earlier);
    const [first, ...rest] = toAnswers(message, known);
    if (first === undefined)
      throw new InvalidInputError('message.parts', 'answers no call: send a data part.');
    await request.save(toAnsweredCalls([first, ...rest]));
    return sendInputs(this.#context, caller, session, [first, ...rest]);
  }

  async *#frames(
    run: SessionRun,
    view: TaskView,
    lastEventId: string | null,
  ): AsyncGenerator<IdentifiedFrame<JsonObject>, void, undefined> {
    const after = parseFrameCursor(lastEventId);
    const { signal } = this.#caller;
    const map = (...[update]: Parameters<TaskView['apply']>): readonly JsonObject[] =>
      view.apply(update);
    for await (const frames of readFrames(this.#context, run, { map, after, signal }))
      yield* frames;
  }

  /** @throws HttpError 503 when the server closes before */
  async #awaitEnd(run: SessionRun): Promise<void> {
    const { signal } = this.#caller;
    for await (const { update } of readRun(this.#context, run, { signal }))
      if (update.type === 'run.ended') return;
    throw new HttpError(503, 'The task has not ended. Send the same message again.', {
      retryAfterSeconds: 1,
    });
  }
}

/** What is stored of the calls that a message answers. */
function toAnsweredCalls(inputs: readonly ClientInput[]): Json {
  return inputs.flatMap((input) =>
    input.type === 'message'
      ? []
      : [{ callId: input.callId, needs: input.type === 'result' ? 'result' : 'approval' }],
  );
}

/** The calls that a message answered when it came first. */
function parseAnsweredCalls(stored: Json): readonly OpenCall[] {
  if (!Array.isArray(stored)) return [];
  return stored.filter(isJsonObject).map(({ callId, needs }) => ({
    callId: typeof callId === 'string' ? callId : '',
    name: '',
    args: {},
    needs: needs === 'result' ? 'result' : 'approval',
    reason: 'policy',
    path: [],
  }));
}

/** The task that a message begins or continues, as it is before its first event. */
function toNewView({ ref, message, isAnswer }: SentRun): TaskView {
  const view = new TaskView(ref, isAnswer ? 'TASK_STATE_WORKING' : 'TASK_STATE_SUBMITTED');
  if (!isAnswer) {
    const { messageId, content } = toMessageInput(message);
    view.addUserMessage(messageId, content);
  }
  return view;
}
