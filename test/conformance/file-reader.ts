/** The MCP server of the fixtures, over stdio. Its only tool reads files that do not exist. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'file-reader', version: '1.0.0' });
  server.registerTool(
    'read_file',
    {
      description: 'Reads a file.',
      inputSchema: z.object({ path: z.string() }),
      outputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ path }) => ({ content: [], structuredContent: { text: `what is in ${path}` } }),
  );
  return server;
});
