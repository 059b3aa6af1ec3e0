import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { openRuntime } from 'petrichor';
import { createServer } from 'petrichor/server';
import shop from './agent.ts';

const runtime = await openRuntime({ agents: [shop], store: 'sqlite:petrichor.db' });
// Without keys only this machine may call. Before others can reach it: keys: 'required', and your own sign-in.
const api = await createServer({ runtime, keys: 'off' });

const app = new Hono();
app.all('/v1/*', ({ req }) => api.fetch(req.raw));
app.use('*', serveStatic({ root: './public' }));

const port = Number(process.env['PORT'] ?? 8787);
const http = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) => {
  console.log(`http://127.0.0.1:${address.port}`);
});

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    http.close();
    await api.close();
    await runtime.close(); // sessions continue when the server starts again
    process.exit();
  });
