import type { Message, SendMessageRequest, Task } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import type { Content } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import { joinText, toA2aParts } from './a2a-client.ts';
import { RemoteAgentError } from './remote-agent-error.ts';

// The numbers of the protocol: the SDK is loaded when an agent is called.
const ROLE_USER = 1;
const [COMPLETED, FAILED, CANCELED, INPUT_REQUIRED, REJECTED, AUTH_REQUIRED] = [3, 4, 5, 6, 7, 8];

/** How long a repeated question for a task waits at most, in milliseconds. */
const MAX_POLL_MS = 30_000;
/** How often a request is repeated that fails before there is an answer. */
const MAX_FAILURES = 5;
const LISTED_TASKS = 100;

/** A message that starts or continues a task. */
export interface RemoteMessage {
  readonly messageId: string;
  readonly content: Content;
  readonly contextId: string | undefined;
  /** The task that asked, and gets this message as its answer. */
  readonly taskId: string | undefined;
  /** True: an earlier attempt may have sent it. */
  readonly isRepeated: boolean;
}

export interface RemoteCall {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Sends a message, and returns at once what the remote agent made of it. A message that may have been sent before is
 * looked for among the tasks first: an agent need not recognize a message that comes twice.
 */
export async function sendRemote(
  { client, clock, signal }: RemoteCall,
  message: RemoteMessage,
): Promise<Message | Task> {
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    if (message.isRepeated || failures > 0) {
      const found = await findTask(client, message, signal);
      if (found !== undefined) return found;
    }
    try {
      return await client.sendMessage(toRequest(message), { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error) || failures === MAX_FAILURES) throw error;
      await sleep(clock, 1000 * 2 ** failures, signal);
    }
  }
}

/** Waits until a task has ended or waits for its client. Only asks for it, so it can be repeated after a crash. */
export async function followTask(
  { client, clock, signal }: RemoteCall,
  taskId: string,
): Promise<Task> {
  let failures = 0;
  for (let asked = 0; ; asked++) {
    signal.throwIfAborted();
    try {
      const task = await client.getTask({ id: taskId, tenant: '' }, { signal });
      failures = 0;
      if (hasStopped(task)) return task;
      // A stream ends with the task. An agent without streams is asked again and again.
      if (await readStream(client, taskId, signal)) continue;
    } catch (error) {
      signal.throwIfAborted();
      if (isLost(error) || (isTransient(error) && ++failures > MAX_FAILURES)) throw error;
    }
    // The task may have ended just before its stream was asked for.
    await sleep(clock, asked === 0 ? 0 : Math.min(500 * 2 ** asked, MAX_POLL_MS), signal);
  }
}

/** Returns true if the stream had events. */
async function readStream(client: Client, id: string, signal: AbortSignal): Promise<boolean> {
  const stream = client.resubscribeTask({ id, tenant: '' }, { signal });
  let hasEvents = false;
  for (let next = await stream.next(); next.done !== true; next = await stream.next())
    hasEvents = true;
  return hasEvents;
}

/** Asks a remote agent to stop a task. It may have ended, or not be reachable: then nothing more can be done. */
export async function cancelRemote(
  { client }: Pick<RemoteCall, 'client'>,
  id: string,
): Promise<void> {
  const signal = AbortSignal.timeout(5000);
  await client
    .cancelTask({ id, tenant: '', metadata: undefined }, { signal })
    .catch(() => undefined);
}

/** True: the task waits for an answer of its client. */
export function isWaiting(task: Task): boolean {
  return [INPUT_REQUIRED, AUTH_REQUIRED].includes(toState(task));
}

/** @throws RemoteAgentError for a task that failed, was rejected, or was canceled */
export function assertSucceeded(task: Task): void {
  const state = toState(task);
  if (state === COMPLETED) return;
  const text = joinText(task.status?.message?.parts ?? []);
  const problem = NAMES[state] ?? 'ended in an unknown state';
  throw new RemoteAgentError(
    `Task ${task.id} of the remote agent ${problem}${text && `: ${text}`}.`,
  );
}

const NAMES: Readonly<Record<number, string>> = {
  [FAILED]: 'failed',
  [CANCELED]: 'was canceled',
  [REJECTED]: 'was rejected',
};

function hasStopped(task: Task): boolean {
  const state = toState(task);
  return state === COMPLETED || isWaiting(task) || NAMES[state] !== undefined;
}

function toState({ status }: Task): number {
  return status?.state ?? 0;
}

/** The task whose history has a message. Undefined also if the agent lists no tasks. */
async function findTask(
  client: Client,
  { messageId, contextId = '', taskId }: RemoteMessage,
  signal: AbortSignal,
): Promise<Task | undefined> {
  try {
    const has = ({ history }: Task): boolean => history.some((one) => one.messageId === messageId);
    if (taskId !== undefined) {
      const task = await client.getTask({ id: taskId, tenant: '' }, { signal });
      return has(task) || !isWaiting(task) ? task : undefined;
    }
    const { tasks } = await client.listTasks(
      {
        tenant: '',
        contextId,
        status: 0,
        pageSize: LISTED_TASKS,
        pageToken: '',
        statusTimestampAfter: undefined,
        includeArtifacts: false,
      },
      { signal },
    );
    return tasks.find(has);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function toRequest({
  messageId,
  content,
  contextId = '',
  taskId = '',
}: RemoteMessage): SendMessageRequest {
  return {
    tenant: '',
    metadata: undefined,
    message: {
      messageId,
      contextId,
      taskId,
      role: ROLE_USER,
      parts: [...toA2aParts(content)],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    },
  };
}

/** A connection that failed or broke, and an error of the server: the next attempt may succeed. */
function isTransient(error: unknown): boolean {
  if (error instanceof RemoteAgentError) return false;
  if (error instanceof TypeError) return true;
  const status: unknown =
    typeof error === 'object' && error !== null && Reflect.get(error, 'statusCode');
  return typeof status === 'number' && status >= 500;
}

/** The agent does not know the task. */
function isLost(error: unknown): boolean {
  if (error instanceof RemoteAgentError) return true;
  return error instanceof Error && error.name.includes('TaskNotFound');
}

async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.at(clock.now() + ms, resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  cancel();
  signal.throwIfAborted();
}
