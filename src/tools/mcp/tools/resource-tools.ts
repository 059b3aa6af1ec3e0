import type { Tool } from '../../tool/tool.ts';
import { tool } from '../../tool/tool.ts';
import type { McpToolset } from '../vocabulary/mcp-toolset.ts';

type Reader = Pick<McpToolset, 'resources' | 'resourceTemplates' | 'readResource'>;

/** The resources of a server as two tools that only read. */
export function resourceTools(server: string, reader: Reader): readonly Tool[] {
  const list = tool({
    name: 'list_resources',
    description: `Lists what can be read from ${server} with read_resource, and templates of addresses.`,
    readOnly: true,
    execute: async (_args, { signal }) => ({
      resources: await reader.resources({ signal }),
      templates: await reader.resourceTemplates({ signal }),
    }),
  });
  const read = tool({
    name: 'read_resource',
    description: `Reads one resource of ${server} by its address.`,
    parameters: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'The address, as it is listed.' } },
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
