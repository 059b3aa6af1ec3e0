import { test } from 'node:test';
import { restateDispatcher } from '../../src/interop/restate/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import { dispatcherCases } from '../dispatch/dispatcher-cases.ts';
import { RoundRobinProxy } from '../fleet/round-robin-proxy.ts';
import { RestateServer } from './restate-server.ts';

for (const { title, run } of dispatcherCases)
  test(`Restate: ${title}`, async (t) => {
    await using server = await RestateServer.start();
    if (server === undefined) return t.skip('no Restate server for this platform');
    const ports: number[] = [];
    await using proxy = await RoundRobinProxy.start({ listPorts: () => ports });
    const store = new MemoryStore();
    await run({
      open: async (agents) => {
        const dispatcher = restateDispatcher({ ingress: server.ingress, port: 0 });
        const runtime = await openRuntime({
          agents,
          store,
          dispatcher,
          onError: (e) => console.error('ERR', e),
        });
        // A port stays when its process has ended: Restate tries again.
        ports.push(dispatcher.port);
        if (ports.length === 1) await server.register(Number(new URL(proxy.url).port));
        return runtime;
      },
    });
  });
