import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../../core/index.ts';
import { McpToolError } from '../vocabulary/mcp-errors.ts';
import { plainJson } from '../vocabulary/plain-json.ts';

/**
 * What a tool of a server gave, as the response to its call. Structured content is the response itself; one text is
 * `{ result }`; anything else is `{ content }`, a list of parts, with structured content beside it.
 * @throws McpToolError when the tool says that it failed.
 */
export function callResponse(result: CallToolResult): Json {
  const { content, isError, structuredContent } = result;
  const structured =
    structuredContent === undefined ? undefined : plainJson(structuredContent, 'structuredContent');
  if (isError === true) {
    const parts = content.filter(({ type }) => type !== 'text').map((block) => contentPart(block));
    throw new McpToolError(joinText(content) || 'The tool failed.', {
      details: {
        ...(parts.length > 0 && { content: parts }),
        ...(structured !== undefined && { structuredContent: structured }),
      },
    });
  }
  // Servers repeat structured content as text, for clients that know only that.
  const rest = structured === undefined ? content : content.filter(({ type }) => type !== 'text');
  if (structured !== undefined && rest.length === 0) return structured;
  if (structured === undefined && rest.every(({ type }) => type === 'text')) return joinText(rest);
  const parts = rest.map((block) => contentPart(block));
  return { content: parts, ...(structured !== undefined && { structuredContent: structured }) };
}

/** One block as a part: text, bytes, or the address of bytes. */
export function contentPart(block: ContentBlock): JsonObject {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image':
    case 'audio':
      return { inlineData: { mimeType: block.mimeType, data: block.data } };
    case 'resource_link':
      return fileAt(block.uri, block.mimeType, block.title ?? block.name);
    case 'resource':
      return resourcePart(block.resource);
    default:
      return { opaque: plainJson(block, 'content') };
  }
}

/** The contents of a resource as a part. */
export function resourcePart(
  resource:
    | { readonly uri: string; readonly mimeType?: string | undefined; readonly text: string }
    | { readonly uri: string; readonly mimeType?: string | undefined; readonly blob: string },
): JsonObject {
  if ('text' in resource) return { text: resource.text };
  const { mimeType = 'application/octet-stream', blob: data, uri: displayName } = resource;
  return { inlineData: { mimeType, data, displayName } };
}

function fileAt(fileUri: string, mimeType: string | undefined, displayName: string): JsonObject {
  return { fileData: { mimeType: mimeType ?? 'application/octet-stream', fileUri, displayName } };
}

function joinText(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
