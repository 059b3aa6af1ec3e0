import type { ToolAnnotations } from '@modelcontextprotocol/client';
import type { McpToolPolicy, McpToolsetSettings } from '../vocabulary/mcp-options.ts';

/**
 * How a server's tool is treated. `policy` takes precedence, then `autoApprove`, then the
 * annotations of the server: a tool that is read-only or not destructive needs no approval. Without
 * annotations a tool counts as destructive, as the protocol defines.
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
