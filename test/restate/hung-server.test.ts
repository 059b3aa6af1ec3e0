import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from '../../src/client/index.ts';
import { openStore } from '../../src/store/index.ts';
import { checkEffects, readEffects } from '../fleet/check-effects.ts';
import { RoundRobinProxy } from '../fleet/round-robin-proxy.ts';
import { freePort } from '../free-port.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';
import { ServeProcess } from '../server/serve-process.ts';
import { RestateServer } from './restate-server.ts';

const AGENTS = join(import.meta.dirname, '..', 'fleet', 'fleet-agents.ts');

async function readTurnEnds(client: Client, session: string, count: number): Promise<void> {
  let ended = 0;
  for await (const { type } of client.sessions.events(session))
    if (type === 'session.status_idle' && ++ended === count) return;
}

test('a server that hangs in a call loses its session to another one, and does no harm when it wakes up', async (t) => {
  await using restate = await RestateServer.start();
  if (restate === undefined) return t.skip('no Restate server for this platform');
  const database = await startPostgresServer();
  if (database === undefined) return t.skip('no PostgreSQL for this platform');
  await using disposed = new AsyncDisposableStack();
  disposed.defer(async () => database.stop());
  const folder = mkdtempSync(join(tmpdir(), 'petrichor-hung-'));
  disposed.defer(() => rmSync(folder, { recursive: true, force: true }));
  const effects = join(folder, 'effects.jsonl');
  const ports: number[] = [];
  const start = async (toolMs: number): Promise<ServeProcess> => {
    const port = await freePort();
    ports.push(port);
    return disposed.use(
      await ServeProcess.start({
        folder,
        args: [
          `--agents=${AGENTS}`,
          '--port=0',
          `--store=${database.url}`,
          `--dispatch=restate=${restate.ingress}`,
          `--dispatch-listen=${port}`,
        ],
        env: { SIDE_EFFECTS: effects, TOOL_MS: `${toolMs}` },
      }),
    );
  };
  // Restate knows only the first one, so the session begins there.
  const hung = await start(2000);
  const [firstPort = 0] = ports;
  const drives = disposed.use(await RoundRobinProxy.start({ listPorts: () => ports }));
  ports.splice(0, ports.length, firstPort);
  await restate.register(Number(new URL(drives.url).port));
  const client = createClient({ baseUrl: hung.url });
  const [agent = ''] = hung.agents;
  const { id } = await client.sessions.create({ agent });
  await client.sessions.send(id, [
    { type: 'user.message', content: [{ type: 'text', text: 'work one' }] },
  ]);
  const countBegan = (): number =>
    readEffects(effects).filter(({ what }) => what === 'began').length;
  while (countBegan() < 2) await sleep(20);
  hung.signal('SIGSTOP');
  const other = await start(20);
  // An operator takes the session from the server that hangs.
  const store = await openStore(database.url);
  disposed.defer(async () => store.close());
  const [row] = await store.list({});
  assert.ok(row !== undefined && (await store.evict(row.key)).evicted !== null);
  // Its drive has not ended for Restate, and every other one waits behind it.
  const elsewhere = createClient({ baseUrl: other.url });
  await elsewhere.sessions.send(id, [{ type: 'user.interrupt' }]);
  await readTurnEnds(elsewhere, id, 1);
  await elsewhere.sessions.send(id, [
    { type: 'user.message', content: [{ type: 'text', text: 'work two' }] },
  ]);
  await readTurnEnds(elsewhere, id, 2);
  hung.signal('SIGCONT');
  // What ran when the server was stopped runs to its end; its result is refused.
  const isDone = (): boolean =>
    readEffects(effects).some(({ what, call }) => what === 'did' && call === 'note one-1');
  while (!isDone()) await sleep(20);
  await client.sessions.send(id, [
    { type: 'user.message', content: [{ type: 'text', text: 'work three' }] },
  ]);
  await readTurnEnds(client, id, 3);
  const report = await checkEffects(database.url, effects);
  t.diagnostic(JSON.stringify(report));
  assert.deepEqual([report.calls, report.toolRuns - report.runsAgain], [8, 8]);
  for (const one of [other, hung]) assert.equal(await one.end('SIGTERM'), 0, one.stderr);
});
