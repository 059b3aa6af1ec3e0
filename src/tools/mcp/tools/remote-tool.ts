import { omitUndefined } from '../../../core/internal.ts';
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  Progress,
  Tool as RemoteTool,
} from '@modelcontextprotocol/client';
import { OutcomeUnknownError } from '../../../core/index.ts';
import type { Clock } from '../../../net/index.ts';
import { raceWithAbort } from '../../../models/internal.ts';
import { Pending } from '../../tool/pending.ts';
import type { ToolContext } from '../../tool/tool-context.ts';
import { tool, type Tool } from '../../tool/tool.ts';
import { callResponse } from './call-response.ts';
import type { McpConnection } from '../transport/mcp-connection.ts';
import { McpRequestError } from '../vocabulary/mcp-errors.ts';
import type { McpToolsetSettings } from '../vocabulary/mcp-options.ts';
import { createOutputValidator } from './output-validator.ts';
import { plainObject } from '../vocabulary/plain-json.ts';
import { resolveAnswer, resolveInputRequired, type McpInputResponses } from './elicitation.ts';
import { toolPolicy } from './tool-policy.ts';

export interface RemoteToolServices {
  readonly connection: McpConnection;
  readonly clock: Clock;
  readonly settings: McpToolsetSettings;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/**
 * Added to the time limit of the request, so that the net's own timeout comes first, with its
 * message.
 */
const GRACE_MS = 1000;
/** The most rounds of `input_required` without new input, one second apart. */
const MAX_ROUNDS = 10;
const ROUND_PAUSE_MS = 1000;

/**
 * Wraps a tool of a server as a tool, under the name that models use.
 * @throws InvalidToolError if its definition or a schema cannot be used
 */
export function remoteTool(name: string, remote: RemoteTool, services: RemoteToolServices): Tool {
  const { settings } = services;
  if (remote.outputSchema !== undefined) createOutputValidator(remote.outputSchema, remote.name);
  const policy = toolPolicy(remote.name, remote.annotations, settings);
  const timeoutMs = policy.timeoutMs ?? settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  return tool({
    name,
    description: remote.description ?? remote.title ?? remote.annotations?.title ?? remote.name,
    parameters: plainObject(remote.inputSchema, 'inputSchema'),
    ...omitUndefined({ maxResultCharacters: settings.maxResultCharacters }),
    ...policy,
    timeoutMs,
    execute: (args, context) =>
      callRemoteTool({ name: remote.name, arguments: { ...args } }, timeoutMs, context, services),
  });
}

async function callRemoteTool(
  call: CallToolRequest['params'],
  timeoutMs: number,
  context: ToolContext,
  services: RemoteToolServices,
): Promise<unknown> {
  const { settings, clock } = services;
  const elicitationSettings = { ...settings, server: settings.name };
  const resolved =
    context.answer === undefined ? {} : resolveAnswer(context.answer, elicitationSettings);
  if (resolved instanceof Pending) return resolved;
  let inputs: McpInputResponses = resolved;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    const result = await callOnce({ ...call, ...inputs }, timeoutMs, context, services);
    if (!isInputRequired(result)) return callResponse(result);
    const next = resolveInputRequired(result, elicitationSettings);
    if (next instanceof Pending) return next;
    inputs = next;
    if (next.inputResponses === undefined) {
      await pause(clock, ROUND_PAUSE_MS, context.signal);
    }
  }
  throw new McpRequestError(settings.name, `it still required input after ${MAX_ROUNDS} rounds.`);
}

async function callOnce(
  call: CallToolRequest['params'],
  timeoutMs: number,
  { signal, progress }: ToolContext,
  { connection, settings }: RemoteToolServices,
): Promise<CallToolResult | InputRequiredResult> {
  let isWithServer = false;
  try {
    return await connection.use(async (client) => {
      isWithServer = true;
      try {
        return await client.callTool(call, {
          signal,
          timeout: timeoutMs + GRACE_MS,
          allowInputRequired: true,
          onprogress: (step) => progress(progressText(step)),
        });
      } finally {
        isWithServer = signal.aborted;
      }
    }, signal);
  } catch (error) {
    if (!isWithServer) throw error;
    // The protocol allows a server to finish a cancelled call.
    const reason = signal.reason instanceof Error ? signal.reason.message : String(signal.reason);
    throw new OutcomeUnknownError(
      `The call to MCP server "${settings.name}" was cancelled before the server answered: ${reason}`,
      { cause: error },
    );
  }
}

function progressText({ progress, total, message }: Progress): string {
  if (message !== undefined) return message;
  return total === undefined ? String(progress) : `${progress}/${total}`;
}

function isInputRequired(
  result: CallToolResult | InputRequiredResult,
): result is InputRequiredResult {
  return 'resultType' in result && result['resultType'] === 'input_required';
}

async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.at(clock.now() + ms, resolve);
  await raceWithAbort(promise, signal).finally(cancel);
}
