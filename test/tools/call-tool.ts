import { openToolContext } from '../../src/tools/tool/tool-context.ts';
import {
  failedToolResponse,
  toToolResponse,
  type ToolResponse,
} from '../../src/tools/tool/tool-response.ts';
import type { Tool } from '../../src/tools/tool/tool.ts';
import type { JsonObject } from '../../src/core/index.ts';

/**
 * Calls a tool as a session would: its arguments are validated first, and an exception becomes an
 * error response.
 */
export async function callTool(
  tool: Tool,
  args: JsonObject,
  {
    signal = new AbortController().signal,
    sessionId = 's',
  }: { readonly signal?: AbortSignal; readonly sessionId?: string } = {},
): Promise<ToolResponse> {
  const parsed = tool.parse(args);
  if (!parsed.ok) return failedToolResponse(new Error(parsed.message));
  const { context } = openToolContext({
    callId: 'call',
    firingId: 'firing',
    invocationId: 'e-1',
    sessionKey: { appName: 'app', userId: 'user', sessionId },
    agentName: 'agent',
    attempt: 1,
    snapshot: new Map(),
    signal,
    progress: () => undefined,
  });
  try {
    return toToolResponse(await tool.execute(parsed.value, context));
  } catch (error) {
    return failedToolResponse(error);
  }
}

/** The error code of a response; undefined for a success. */
export function getErrorCode({ response }: ToolResponse): unknown {
  const { error } = response as { readonly error?: { readonly code: string } };
  return error?.code;
}
