import { omitUndefined } from '../../../core/internal.ts';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../../core/index.ts';
import { McpToolError } from '../vocabulary/mcp-errors.ts';
import { plainJson } from '../vocabulary/plain-json.ts';

/**
 * Converts the result of a server's tool to the response to its call. Structured content becomes
 * the response itself; text alone becomes `{ result }`; anything else becomes `{ content }`, a list
 * of parts, beside any structured content.
 * @throws McpToolError if the result is an error
 */
export function callResponse(result: CallToolResult): Json {
  const { content, isError, structuredContent } = result;
  const structured =
    structuredContent === undefined ? undefined : plainJson(structuredContent, 'structuredContent');
  if (isError === true) {
    const parts = content.filter(({ type }) => type !== 'text').map((block) => contentPart(block));
    throw new McpToolError(joinText(content) || 'The tool failed.', {
      details: omitUndefined({
        content: parts.length > 0 ? parts : undefined,
        structuredContent: structured,
      }),
    });
  }
  // Servers repeat structured content as text for older clients.
  const rest = structured === undefined ? content : content.filter(({ type }) => type !== 'text');
  if (structured !== undefined && rest.length === 0) return structured;
  if (structured === undefined && rest.every(({ type }) => type === 'text')) return joinText(rest);
  const parts = rest.map((block) => contentPart(block));
  return { content: parts, ...omitUndefined({ structuredContent: structured }) };
}

/** Converts one content block to a part: text, bytes, or a reference. */
export function contentPart(block: ContentBlock): JsonObject {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
    case 'audio':
      return { inlineData: { mimeType: block.mimeType, data: block.data } };
    case 'resource_link':
      return toFileData(block.uri, block.mimeType, block.title ?? block.name);
    case 'resource':
      return resourcePart(block.resource);
    default:
      return { opaque: plainJson(block, 'content') };
  }
}

/** Converts the contents of a resource to a part. */
export function resourcePart(
  resource:
    | { readonly uri: string; readonly mimeType?: string | undefined; readonly text: string }
    | { readonly uri: string; readonly mimeType?: string | undefined; readonly blob: string },
): JsonObject {
  if ('text' in resource) return { text: resource.text };
  const { mimeType = 'application/octet-stream', blob: data, uri: displayName } = resource;
  return { inlineData: { mimeType, data, displayName } };
}

function toFileData(
  fileUri: string,
  mimeType: string | undefined,
  displayName: string,
): JsonObject {
  return { fileData: { mimeType: mimeType ?? 'application/octet-stream', fileUri, displayName } };
}

function joinText(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
