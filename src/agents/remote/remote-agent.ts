import type { Client } from '@a2a-js/sdk/client';
import { checkDefinition, omitUndefined, optionTable } from '../../core/internal.ts';
import { InvalidInputError, isJsonObject, parseContent } from '../../core/index.ts';
import type { Content, Json, OptionTable } from '../../core/index.ts';
import { parseAllowedHosts, parseWebUrl } from '../../egress/index.ts';
import { systemClock } from '../../net/index.ts';
import type { Clock } from '../../net/index.ts';
import { ShutdownError } from '../../net/internal.ts';
import type { Agent } from '../agent/agent.ts';
import { custom } from '../custom/custom.ts';
import type { CustomContext } from '../custom/custom-context.ts';
import type { CustomGenerator } from '../generator/yields.ts';
import { fromA2aPart, openA2aClient, toAnswer } from './a2a-client.ts';
import type { RemoteHeaders } from './a2a-client.ts';
import { assertSucceeded, cancelRemote, followTask, isWaiting, sendRemote } from './remote-task.ts';

/** Options of `remoteAgent`. */
export interface RemoteAgentOptions {
  /** The name of the agent here. */
  readonly name: string;
  /** For the models of other agents. Default: empty. */
  readonly description?: string;
  /**
   * Hosts that may have a private address and plain http, and that the card may name as an endpoint:
   * `127.0.0.1:8787`, `*.internal`. Default: none, so the card must have a public address with TLS, and its endpoints
   * the same origin.
   */
  readonly allowHosts?: readonly string[];
  /** Headers of each request, for example `{ 'x-api-key': … }`. They are not stored. Default: none. */
  readonly headers?: () => RemoteHeaders | Promise<RemoteHeaders>;
  /** How long a task may take, in milliseconds. Then the turn fails. Default: 1 hour. */
  readonly timeoutMs?: number;
  /** How large a response of the agent, or an event of its stream, may be, in bytes. Default: 16,777,216. */
  readonly maxResponseBytes?: number;
  readonly clock?: Clock;
}

/** The options of `remoteAgent`. */
export const REMOTE_AGENT_OPTIONS: OptionTable = optionTable<RemoteAgentOptions>('remoteAgent', {
  name: true,
  description: true,
  allowHosts: true,
  headers: true,
  timeoutMs: true,
  maxResponseBytes: true,
  clock: true,
});

const DEFAULT_TIMEOUT_MS = 3_600_000;
const DEFAULT_RESPONSE_BYTES = 16_777_216;

/**
 * Creates an agent that is elsewhere, and speaks A2A. It is a sub-agent like any other, or a tool with `agentTool`. The
 * id of its task is committed before its answer is awaited: after a crash the agent is asked for that task.
 * @param cardUrl the address of its card: `https://agents.example/a2a/agent_poet/.well-known/agent-card.json`
 * @throws InvalidInputError for an address that is not one of the web, and for an invalid option; UnknownFieldError
 * @example
 * const poet = remoteAgent('https://poets.example/.well-known/agent-card.json', { name: 'poet' });
 * const host = agent({ name: 'host', model, tools: [agentTool(poet)] });
 */
export function remoteAgent(cardUrl: string, options: RemoteAgentOptions): Agent {
  checkDefinition(REMOTE_AGENT_OPTIONS, options);
  assertAddress(cardUrl);
  const { name, description, allowHosts = [], headers, clock = systemClock } = options;
  const { maxResponseBytes = DEFAULT_RESPONSE_BYTES } = options;
  parseAllowedHosts(allowHosts);
  if (!Number.isSafeInteger(maxResponseBytes) || maxResponseBytes <= 0)
    throw new InvalidInputError(
      'maxResponseBytes',
      `must be a whole number of bytes above 0; it is ${String(maxResponseBytes)}.`,
    );
  const address = { cardUrl, allowHosts, headers, maxResponseBytes };
  return custom({
    name,
    ...omitUndefined({ description }),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    run: (context) =>
      callRemote(context, { name, clock, open: async () => openA2aClient(address) }),
  });
}

interface Remote {
  readonly name: string;
  readonly clock: Clock;
  readonly open: () => Promise<Client>;
}

/** What is stored of the conversation with a remote agent. */
interface StoredTask {
  /** The run of the agent that sent the last message. */
  readonly activationId: string;
  readonly contextId?: string | undefined;
  readonly taskId?: string | undefined;
  /** True: the task asked, and the next message is its answer. */
  readonly isOpen?: boolean | undefined;
  /** The answer of an agent that made no task. */
  readonly reply?: Content | undefined;
}

async function* callRemote(context: CustomContext, { name, clock, open }: Remote): CustomGenerator {
  const key = `remote_agent:${name}`;
  const stored = parseStoredTask(context.state.get(key));
  const client = await open();
  const isOwn = stored?.activationId === context.activationId;
  // After a crash the code up to a yield runs again. What was committed shows that the message was sent.
  const task = isOwn
    ? stored
    : await start(context, { client, clock, stored, content: findMessage(context.contents) });
  yield { state: { [key]: omitUndefined({ ...task }) } };
  const { taskId, reply } = task;
  if (taskId === undefined) {
    if (reply !== undefined) yield reply;
    return;
  }
  // The signal of this step, not of the step before.
  const { signal } = context;
  const found = await followTask({ client, clock, signal }, taskId).catch(
    async (error: unknown) => {
      // An interrupt and a timeout stop the task. A runtime that closes does not: the next one asks for it.
      const isOver = signal.aborted && !(signal.reason instanceof ShutdownError);
      if (isOver) await cancelRemote({ client }, taskId);
      throw error;
    },
  );
  const waits = isWaiting(found);
  if (!waits) assertSucceeded(found);
  yield {
    content: { role: 'model', parts: [...toAnswer(found, waits)] },
    state: { [key]: { ...omitUndefined({ ...task }), isOpen: waits } },
  };
}

/** Sends the message of this run, and returns what is stored of it. */
async function start(
  { activationId, attempt, signal }: CustomContext,
  {
    client,
    clock,
    stored,
    content,
  }: {
    readonly client: Client;
    readonly clock: Clock;
    readonly stored: StoredTask | undefined;
    readonly content: Content;
  },
): Promise<StoredTask> {
  const sent = await sendRemote(
    { client, clock, signal },
    {
      messageId: activationId,
      content,
      contextId: stored?.contextId,
      taskId: stored?.isOpen === true ? stored.taskId : undefined,
      isRepeated: attempt > 1,
    },
  );
  const contextId = sent.contextId === '' ? stored?.contextId : sent.contextId;
  if ('artifacts' in sent)
    return { activationId, taskId: sent.id, ...omitUndefined({ contextId }) };
  const parts = sent.parts.flatMap(fromA2aPart);
  return { activationId, reply: { role: 'model', parts }, ...omitUndefined({ contextId }) };
}

/** The newest message that the agent is to answer. @throws InvalidInputError if there is none */
function findMessage(contents: readonly Content[]): Content {
  const found = contents.findLast(({ role, parts }) => role === 'user' && parts.length > 0);
  if (found === undefined)
    throw new InvalidInputError('contents', 'have no message for the remote agent.');
  return found;
}

function parseStoredTask(value: Json | undefined): StoredTask | undefined {
  if (!isJsonObject(value)) return undefined;
  const { activationId, contextId, taskId, isOpen, reply } = value;
  if (typeof activationId !== 'string') return undefined;
  return {
    activationId,
    ...omitUndefined({
      contextId: typeof contextId === 'string' ? contextId : undefined,
      taskId: typeof taskId === 'string' ? taskId : undefined,
      isOpen: isOpen === true ? true : undefined,
      reply: reply === undefined ? undefined : parseContent(reply, { unknownParts: 'keep' }),
    }),
  };
}

/** @throws InvalidInputError for an address that is not one of the web */
function assertAddress(cardUrl: string): void {
  try {
    parseWebUrl(cardUrl);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError('cardUrl', `cannot be used: ${problem}`, { cause });
  }
}
