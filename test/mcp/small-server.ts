/** A stdio server that identifies itself, and can exit too early or fail to exit. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod';

if (process.env['STUBBORN'] !== undefined) {
  // Most servers end when their input is closed, because nothing else keeps them alive.
  setInterval(() => undefined, 1000);
  process.on('exit', () => undefined);
}
let cancelled = 0;

serveStdio(() => {
  const server = new McpServer({ name: 'small', version: '1.0.0' });
  server.registerTool(
    'about',
    {
      description: 'Tells who it is.',
      inputSchema: z.object({}),
      outputSchema: z.object({
        pid: z.number(),
        env: z.record(z.string(), z.string()),
        cancelled: z.number(),
      }),
      annotations: { readOnlyHint: true },
    },
    () => {
      const about = {
        pid: process.pid,
        env: { ...process.env } as Record<string, string>,
        cancelled,
      };
      return { content: [], structuredContent: about };
    },
  );
  server.registerTool(
    'hang',
    { description: 'Waits until it is cancelled.', inputSchema: z.object({}) },
    async (_args, { mcpReq }) => {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: {
          progressToken: mcpReq._meta?.progressToken ?? 0,
          progress: 0,
          message: 'hanging',
        },
      });
      return new Promise<never>(() => {
        mcpReq.signal.addEventListener('abort', () => cancelled++);
      });
    },
  );
  server.registerTool('grow', { description: 'Grows.', inputSchema: z.object({}) }, () => {
    server.registerTool('later', { description: 'Came later.', inputSchema: z.object({}) }, () => ({
      content: [{ type: 'text', text: 'here' }],
    }));
    return { content: [] };
  });
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, () => {
    throw new Error(`The key ${process.env['API_KEY']} is wrong.`);
  });
  server.registerTool('exit', { description: 'Dies.', inputSchema: z.object({}) }, () =>
    process.exit(1),
  );
  return server;
});
