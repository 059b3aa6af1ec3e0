import type { ToolAnnotations } from '@modelcontextprotocol/client';
import type { McpToolPolicy, McpToolsetSettings } from '../vocabulary/mcp-options.ts';

/**
 * How a tool of a server is treated. What `policy` says counts first, then `autoApprove`, then what the server says:
 * one that reads, or destroys nothing, needs no approval. A server that says nothing of a tool is taken to mean, as the
 * protocol has it, that it may destroy.
 */
export function toolPolicy(
  remoteName: string,
  hints: ToolAnnotations | undefined,
  { autoApprove = [], trustHints = true, policy = {} }: Omit<McpToolsetSettings, 'name'>,
): McpToolPolicy {
  const { readOnlyHint, idempotentHint, destructiveHint } = (trustHints ? hints : undefined) ?? {};
  const readOnly = readOnlyHint === true;
  const approved = autoApprove === true || autoApprove.includes(remoteName);
  return {
    readOnly,
    idempotent: idempotentHint === true,
    needsApproval: !approved && !readOnly && destructiveHint !== false,
    ...policy[remoteName],
  };
}
