import type { Tool } from '../../tool/tool.ts';
import { tool } from '../../tool/tool.ts';
import type { McpToolset } from '../vocabulary/mcp-toolset.ts';

type Reader = Pick<McpToolset, 'resources' | 'resourceTemplates' | 'readResource'>;

/** Creates two read-only tools for the resources of a server. */
export function resourceTools(server: string, reader: Reader): readonly Tool[] {
  const list = tool({
    name: 'list_resources',
    description: `Lists the resources of ${server} that read_resource can read, and URI templates.`,
    readOnly: true,
    execute: async (_args, { signal }) => ({
      resources: await reader.resources({ signal }),
      templates: await reader.resourceTemplates({ signal }),
    }),
  });
  const read = tool({
    name: 'read_resource',
    description: `Reads one resource of ${server} by its URI.`,
    parameters: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'The URI, as listed.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    readOnly: true,
    execute: async ({ uri }, { signal }) => ({
      content: await reader.readResource(typeof uri === 'string' ? uri : '', { signal }),
    }),
  });
  return [list, read];
}
